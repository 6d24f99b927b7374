import ArgumentParser
import LineProtocol
import SerialPort
import Transports

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what keeps a port from working, and say what mends it.",
        discussion: "Without a port it looks at every USB port. No port is opened. Exits with 0 when nothing fails.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(help: ArgumentHelp("The port, as for --port.", valueName: "endpoint"))
    var endpoint: String?

    func run() throws {
        let options = shared.merged(with: parent.shared)
        let endpoint = endpoint ?? options.port
        try CommandRunner.run(options) { context in
            let diagnoses = try await Self.examine(endpoint, context)
            for diagnosis in diagnoses { context.output.result(diagnosis.text, diagnosis) }
            let failures = diagnoses.filter { $0.status == .fail }
            if let first = failures.first {
                throw Failure(
                    first.exit, code: "unhealthy",
                    failures.count == 1 ? "1 check failed" : "\(failures.count) checks failed")
            }
        }
    }

    private static func examine(_ text: String?, _ context: CommandContext) async throws -> [Diagnosis] {
        let endpoint = try text.map { try Endpoint($0) }
        if let endpoint, endpoint.scheme == "ble" {
            return await BluetoothCheckup(endpoint: endpoint).diagnoses(on: context.loop)
        }
        let programs = RunningPrograms.names()
        let ports = try SerialPorts.all()
        let devices: [SerialPortInfo.USB]
        do {
            devices = try SerialPortDiscovery.devicesWithoutPort()
        } catch {
            throw Failure(discovery: error)
        }
        let system = SystemCheckup(
            programs: programs, ports: ports, devicesWithoutPort: devices, kernel: .running(), libraries: .loaded()
        ).diagnoses
        let examined = try endpoint.map { [try port(of: $0, among: ports)] } ?? ports.filter { $0.usb != nil }
        let baudRate = try endpoint?.number("baud", in: 1...12_000_000)
        return examined.flatMap { PortCheckup(port: $0, baudRate: baudRate, programs: programs).diagnoses } + system
    }

    /// The port that an endpoint names; one that discovery does not know, as a pseudo-terminal, with its node alone.
    private static func port(of endpoint: Endpoint, among ports: [SerialPortInfo]) throws(LinkError) -> SerialPortInfo {
        switch endpoint.scheme {
        case "serial":
            return ports.first { $0.path == endpoint.address || $0.links.contains(endpoint.address) }
                ?? SerialPortInfo(path: endpoint.address)
        case "usb": return try USBEndpoint(endpoint).resolve(endpoint, among: ports)
        default: throw endpoint.invalid("name a port: /dev/ttyUSB0, usb:1a86:7523, ble:HMSoft")
        }
    }
}
