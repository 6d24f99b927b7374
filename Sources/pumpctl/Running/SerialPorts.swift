import SerialPort
import Transports

/// The serial ports that are there, as commands list them.
enum SerialPorts {
    /// All of them, sorted.
    static func all() throws -> [SerialPortInfo] {
        do { return try SerialPortDiscovery.ports() } catch { throw Failure(discovery: error) }
    }

    /// A port in a sentence: where it is, and what it probably is.
    static func phrase(_ port: SerialPortInfo, among ports: [SerialPortInfo]) -> String {
        let parts = [port.board?.description, USBEndpoint.naming(port, among: ports)?.description]
        let facts = parts.compactMap { $0 }.joined(separator: ", ")
        return facts.isEmpty ? port.path : "\(port.path) (\(facts))"
    }
}

extension Failure {
    /// The system could not be asked for its ports.
    init(discovery error: SerialError) {
        self.init(.ioError, code: "system", "\(error)")
    }
}
