import DeviceKit
import Glibc
import LineProtocol
import SerialPort

/// Which endpoint a command talks to.
enum NamedPort {
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

    /// The only plausible port among those, as it is typed.
    static func plausible(among ports: [SerialPortInfo]) throws(Failure) -> String {
        do throws(PortChoiceError) {
            return try PortChoice.plausible(among: ports).path
        } catch {
            throw Failure(error)
        }
    }
}

extension Failure {
    fileprivate init(_ error: PortChoiceError) {
        let ports = error.ports
        switch error.code {
        case .notFound:
            self.init(
                .noInput, code: error.code.rawValue, "there is no USB serial port here",
                hint: ports.isEmpty
                    ? "plug the device in, or name an endpoint: --port ble:HMSoft, --port sim:pump"
                    : "plug the device in, or name a port that is here: --port \(ports[0].path)")
        case .ambiguous:
            let list = ports.map { SerialPorts.phrase($0, among: ports) }.joined(separator: ", ")
            self.init(
                .usage, code: error.code.rawValue, "there are several ports: \(list)",
                hint: "choose one: --port \(ports[0].path)")
        }
    }
}
