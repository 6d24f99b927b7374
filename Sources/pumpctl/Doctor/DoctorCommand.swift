import ArgumentParser
import BlueZ
import DescriptorIO
import DeviceKit
import LineProtocol
import SerialPort
import Transports

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Diagnose a port or Bluetooth, and suggest fixes.",
        discussion: """
            Without a port it looks at every USB port and at Bluetooth, which nothing has to be right with unless ble:NAME \
            is named; then it looks for that device too. No port is opened, and no device connected to. Exits with 0 when \
            nothing fails.
            """,
        example: "pumpctl doctor ble:HMSoft")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: DoctorOptions
    var shared: SharedOptions { own.shared }

    @Argument(help: ArgumentHelp("The port, as for --port.", valueName: "endpoint"))
    var endpoint: String?

    func validate() throws {
        if let endpoint, let port = shared.merged(with: parent.shared).port, port != endpoint {
            throw ValidationError("name one port: '\(port)' or '\(endpoint)'")
        }
    }

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
        guard let text else {
            let bluetooth = await BluetoothCheckup(state: .now(on: context.loop), isNeeded: false)
            return try examineSerialPorts(nil) + bluetooth.diagnoses
        }
        let endpoint = try Endpoint(text)
        guard endpoint.scheme == "ble" else { return try examineSerialPorts(endpoint) }
        return try await examine(BLEEndpoint(endpoint, among: .families), endpoint.text, context.loop)
    }

    /// The device is looked for where nothing else is in the way.
    private static func examine(
        _ endpoint: BLEEndpoint, _ text: String, _ loop: EventLoop
    ) async throws -> [Diagnosis] {
        let state = await BluetoothState.now(on: loop)
        let bluetooth = BluetoothCheckup(state: state, isNeeded: true, adapter: endpoint.adapter).diagnoses
        guard !bluetooth.contains(where: { $0.status == .fail }) else { return bluetooth }
        let devices = try await BLEDeviceSearch(endpoint: endpoint, loop: loop).devices()
        try Task.checkCancellation()
        let device = BLEDeviceCheckup(
            endpoint: text, target: endpoint.target, inSight: devices.inSight, remembered: devices.remembered,
            programs: RunningPrograms.names(), before: before(endpoint))
        return device.diagnoses + bluetooth
    }

    private static func before(_ endpoint: BLEEndpoint) -> BluetoothAddress? {
        guard case .name(let name) = endpoint.target else { return nil }
        return BLEMemoryFile.user()?.address(of: name)
    }

    private static func examineSerialPorts(_ endpoint: Endpoint?) throws -> [Diagnosis] {
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
        let processes = PortHolder.processesInSight()
        return examined.flatMap { port in
            PortCheckup(
                port: port, use: .now(of: port.path), processes: processes, baudRate: baudRate, programs: programs
            ).diagnoses
        } + system
    }

    /// The port that an endpoint names; one that discovery does not know, as a pseudo-terminal, with its node alone.
    private static func port(of endpoint: Endpoint, among ports: [SerialPortInfo]) throws(LinkError) -> SerialPortInfo {
        switch endpoint.scheme {
        case "serial":
            return ports.first { $0.path == endpoint.address || $0.links.contains(endpoint.address) }
                ?? SerialPortInfo(path: endpoint.address)
        case "usb": return try USBEndpoint(endpoint).resolve(endpoint, among: ports)
        default: throw endpoint.invalid("name a serial port or a BLE device: /dev/ttyUSB0, usb:1a86:7523, ble:HMSoft")
        }
    }
}
