import ArgumentParser
import PeripheralSim

/// A simulated BLE module, which belongs to no family, because it carries the bytes of any device.
enum ModuleSimulation: Simulation {
    static let configuration = simulating(
        "module", "a simulated BLE module, an HM-10 or a clone, whose UART is the port",
        """

        While no central is connected, the module answers AT commands; while one is, it passes bytes on in both \
        directions. With --ble, centrals find the module over Bluetooth; otherwise, 'pumpctl sim ctl' acts as a central, \
        with the verbs connect, central TEXT and disconnect.
        """,
        example: "--dialect cc41-a --link ./module")
    static var row: PeripheralSimulator { .module }
    static var keepsLineOverRadio: Bool { true }
}
