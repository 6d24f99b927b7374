import Glibc
import LineProtocol
import SerialPort

/// Which endpoint a command talks to.
enum PortChoice {
    /// The one that was asked for; else PUMPCTL_PORT; else the configuration's; else the only plausible port
    /// there is.
    static func choose(_ asked: String?) throws -> String {
        if let port = try named(asked) { return port }
        return try plausible(among: SerialPorts.all())
    }

    /// The one that is named: by an option, by PUMPCTL_PORT, or by the configuration. Nil where none is.
    static func named(_ asked: String?) throws(Failure) -> String? {
        if let asked { return asked }
        if let variable = getenv("PUMPCTL_PORT"), variable.pointee != 0 { return String(cString: variable) }
        return try Configuration.load().port
    }

    /// The only port that a bench device can be at: the one of a USB device, where there is no other.
    static func plausible(among ports: [SerialPortInfo]) throws(Failure) -> String {
        let candidates = ports.filter { $0.usb != nil }
        switch candidates.count {
        case 1: return candidates[0].path
        case 0:
            throw Failure(
                .noInput, code: "not_found", "there is no USB serial port here",
                hint: ports.isEmpty
                    ? "plug the device in, or name an endpoint: --port ble:HMSoft, --port sim:pump"
                    : "plug the device in, or name a port that is here: --port \(ports[0].path)")
        default:
            let list = candidates.map { SerialPorts.phrase($0, among: ports) }.joined(separator: ", ")
            throw Failure(
                .usage, code: "ambiguous_port", "there are several ports: \(list)",
                hint: "choose one: --port \(candidates[0].path)")
        }
    }
}
