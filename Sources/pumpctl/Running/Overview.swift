import ArgumentParser
import DeviceKit
import SerialPort

/// The output of `pumpctl` without a command: the endpoint from PUMPCTL_PORT or the configuration, or else the USB
/// ports; and advice.
enum Overview {
    static func show(_ output: Output) throws {
        let named = try PortChoice.named()
        let ports = try SerialPortDiscovery.ports()
        let attached = ports.filter { $0.usb != nil }
        let lines = [
            "pumpctl \(PumpctlCommand.configuration.version): bench devices, over a serial port or Bluetooth.",
            sight(named, attached, among: ports), advice(named, attached),
            "Try a simulated pump: pumpctl --port sim:pump status",
            "All commands: pumpctl --help. If a port or Bluetooth does not work: pumpctl doctor",
        ]
        let record: ResultRecord = [
            "ok": true, "version": PumpctlCommand.configuration.version, "port": named, "ports": attached.map(\.path),
        ]
        output.result(lines.joined(separator: "\n"), record.known)
    }

    private static func sight(_ named: String?, _ attached: [SerialPortInfo], among ports: [SerialPortInfo]) -> String {
        if let named { return "Device: \(named), from PUMPCTL_PORT or the configuration." }
        let list = attached.map { $0.phrase(among: ports) }.joined(separator: ", ")
        return attached.isEmpty ? "There is no USB serial port." : "USB serial ports: \(list)."
    }

    private static func advice(_ named: String?, _ attached: [SerialPortInfo]) -> String {
        if named != nil || attached.count == 1 { return "Show the status of a pump there: pumpctl status" }
        if let first = attached.first { return "Show the status of a pump there: pumpctl --port \(first.path) status" }
        return "Plug a device in, or look for one nearby: pumpctl scan"
    }
}
