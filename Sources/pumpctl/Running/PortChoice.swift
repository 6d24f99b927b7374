import FoundationEssentials
import Glibc
import LineProtocol
import SerialPort

/// Which endpoint a command talks to.
enum PortChoice {
    /// The one that was asked for; else PUMPCTL_PORT; else the configuration's; else the only plausible port
    /// there is.
    static func choose(_ asked: String?) throws -> String {
        if let asked { return asked }
        if let variable = getenv("PUMPCTL_PORT"), variable.pointee != 0 { return String(cString: variable) }
        if let configured = try Configuration.load()?.port { return configured }
        return try plausible(among: SerialPorts.all())
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
                    ? "plug the device in, or name an endpoint: --port /dev/ttyUSB0, --port sim:pump"
                    : "plug the device in, or name what is there: --port \(ports[0].path)")
        default:
            let list = candidates.map { SerialPorts.phrase($0, among: ports) }.joined(separator: ", ")
            throw Failure(
                .usage, code: "ambiguous_port", "there are several ports: \(list)",
                hint: "name one: --port \(candidates[0].path)")
        }
    }
}

/// The user's configuration, `$XDG_CONFIG_HOME/pumpctl/config.json`: `{"port": "/dev/ttyUSB0", "record": false}`.
struct Configuration: Decodable {
    /// The endpoint to use where none is named.
    var port: String?
    /// Whether the commands record that do so by themselves; nil for yes.
    var record: Bool?

    /// Reads the configuration; nil if there is none.
    static func load() throws -> Configuration? {
        guard let path, let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        do {
            return try JSONDecoder().decode(Configuration.self, from: data)
        } catch {
            throw Failure(
                .usage, code: "bad_configuration", "\(path) is no configuration",
                hint: "it holds JSON, as {\"port\": \"/dev/ttyUSB0\"}")
        }
    }

    private static var path: String? {
        if let home = getenv("XDG_CONFIG_HOME"), home.pointee != 0 {
            return String(cString: home) + "/pumpctl/config.json"
        }
        return getenv("HOME").map { String(cString: $0) + "/.config/pumpctl/config.json" }
    }
}
