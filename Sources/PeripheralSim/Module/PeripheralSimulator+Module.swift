internal import FirmwareSim

extension PeripheralSimulator {
    /// A BLE module whose UART is a line.
    public static let module = PeripheralSimulator(.module) { try SimulatedModule(settings: $0) }
}
