internal import BlueZ
internal import CVersion
public import DescriptorIO
public import DeviceKit
internal import Glibc
public import LineProtocol
public import SerialPort
public import Transports

/// Checks of the computer, its ports, Bluetooth and a BLE device, which find reasons why a program can't reach its
/// device.
///
/// ```swift
/// let checkup = try Checkup()
/// for finding in checkup.system + (try checkup.port(at: Endpoint("/dev/ttyUSB0"))) {
///     print(finding.check, finding.status, finding.fact)
///     if let remedy = finding.remedy { print(remedy) }
/// }
/// ```
///
/// A checkup changes nothing: it opens no port, connects to no device, and starts no program.
public struct Checkup: Sendable {
    /// The serial ports at the start of the checkup.
    public let ports: [SerialPortInfo]
    private let devicesWithoutPort: [SerialPortInfo.USB]
    /// The names of the programs that ran at the start.
    private let programs = RunningPrograms.names()
    private let daemons: Daemons
    private let rules = UdevRules.installed()

    /// Enumerates ports and programs.
    ///
    /// - Parameter daemons: The daemons that may have a port open and share it.
    /// - Throws: `SerialError` with `system` if the ports can't be enumerated.
    public init(daemons: Daemons = Daemons()) throws(SerialError) {
        self.daemons = daemons
        ports = try SerialPortDiscovery.ports()
        devicesWithoutPort = try SerialPortDiscovery.devicesWithoutPort()
    }

    /// Returns the findings for the device at an endpoint, and for the computer or, with a BLE device, for Bluetooth.
    /// Without an endpoint, returns the findings for every USB port, the computer, and Bluetooth; the problems of
    /// Bluetooth are only warnings in this case.
    ///
    /// - Parameters:
    ///   - endpoint: The device's endpoint: a serial port, `ble:…` or `shared:…`; nil for any device.
    ///   - memory: The store of the addresses of named BLE devices; nil for none.
    ///   - loop: The loop for connections to bluetoothd and daemons.
    /// - Throws: The errors of ``init(daemons:)``, ``port(at:)``, ``sharedDevice(at:)`` and
    ///   ``device(at:among:memory:on:)``.
    public static func findings(
        at endpoint: Endpoint?, memory: (any BLENameMemory)? = nil, on loop: EventLoop = .shared
    ) async throws -> [Finding] {
        if let endpoint, endpoint.scheme == "ble" { return try await device(at: endpoint, memory: memory, on: loop) }
        let bluetooth = endpoint == nil ? await bluetooth(isNeeded: false, on: loop) : []
        let daemons = await Daemons.now(on: loop)
        let checkup = try Checkup(daemons: daemons)
        if let endpoint, endpoint.scheme == "shared" { return try checkup.sharedDevice(at: endpoint) + checkup.system }
        guard let endpoint else { return checkup.usbPorts + checkup.system + bluetooth }
        var system = checkup.system
        // If the port's node exists, as that of a pseudo-terminal does, it does not matter that no USB port was found.
        if endpoint.scheme == "serial", access(endpoint.address, F_OK) == 0 {
            system.removeAll { $0.check == .usbPorts && $0.status == .warning }
        }
        return try checkup.port(at: endpoint) + system
    }

    /// The findings for the computer as a whole: kernel, drivers, udev, USB devices without a port, and daemons of
    /// another version.
    public var system: [Finding] {
        let checkup = SystemCheckup(
            programs: programs, ports: ports, devicesWithoutPort: devicesWithoutPort, kernel: .running(),
            libraries: .loaded(), rules: rules)
        return checkup.findings + daemons.versionFindings(ownVersion: String(cString: cversion()))
    }

    /// The findings for the ports of USB devices.
    public var usbPorts: [Finding] { ports.filter { $0.usb != nil }.flatMap { findings(for: $0, baudRate: nil) } }

    /// Returns the findings for the port of an endpoint `serial:…` or `usb:…`. A port that discovery does not list,
    /// such as a pseudo-terminal, is examined by its node.
    ///
    /// - Parameter endpoint: The endpoint of the port.
    /// - Throws: `invalidEndpoint`, and the errors of `USBEndpoint.resolve(_:among:)`.
    public func port(at endpoint: Endpoint) throws(LinkError) -> [Finding] {
        let port: SerialPortInfo
        switch endpoint.scheme {
        case "serial":
            port =
                ports.first { $0.path == endpoint.address || $0.links.contains(endpoint.address) }
                ?? SerialPortInfo(path: endpoint.address)
        case "usb": port = try USBEndpoint(endpoint).resolve(endpoint, among: ports)
        default:
            throw endpoint.invalid(
                "name a serial port, a BLE device or a shared device: /dev/ttyUSB0, usb:1a86:7523, ble:HMSoft, "
                    + "shared:pump")
        }
        return findings(for: port, baudRate: try endpoint.number("baud", in: 1...12_000_000))
    }

    /// Returns the findings for the device of an endpoint `shared:…`, and for the serial port at which its daemon has
    /// the device.
    ///
    /// - Parameter endpoint: The endpoint of the device.
    /// - Throws: `invalidEndpoint` if the endpoint is malformed, and the errors of ``port(at:)`` for that serial port,
    ///   such as `notFound` if the daemon's endpoint is `usb:…` and the device is unplugged.
    public func sharedDevice(at endpoint: Endpoint) throws(LinkError) -> [Finding] {
        try endpoint.allowOptions([])
        let checkup = SharedDeviceCheckup(name: endpoint.address, daemons: daemons)
        guard let place = checkup.place, place.isSerialPort else { return checkup.findings }
        return checkup.findings + (try port(at: place))
    }

    private func findings(for port: SerialPortInfo, baudRate: Int?) -> [Finding] {
        PortCheckup(
            port: port, use: .now(of: port.path), processes: PortHolder.processesInSight(), baudRate: baudRate,
            programs: programs, daemons: daemons, rules: rules
        ).findings
    }
}

// MARK: - Bluetooth

extension Checkup {
    /// Returns the findings for Bluetooth on this computer.
    ///
    /// - Parameters:
    ///   - isNeeded: Whether the user wants a BLE device. If not, problems are only warnings: the device may be
    ///     connected by a cable.
    ///   - adapter: The name or address of the requested adapter; nil for any.
    ///   - loop: The loop for the connection to bluetoothd.
    public static func bluetooth(
        isNeeded: Bool = true, adapter: String? = nil, on loop: EventLoop = .shared
    ) async -> [Finding] {
        await BluetoothCheckup(state: .now(on: loop), isNeeded: isNeeded, adapter: adapter).findings
    }

    /// Returns the findings for Bluetooth and for the BLE device of an endpoint.
    ///
    /// Scans for the device: 5 s for a first match, and then 1 s for others with the same name. If a finding for
    /// Bluetooth has the status ``Finding/Status/bad``, this function returns only the findings for Bluetooth, without
    /// a scan.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - profiles: The known GATT profiles.
    ///   - memory: The store of the addresses of named devices; nil for none.
    ///   - loop: The loop for the connection to bluetoothd.
    /// - Throws: `LinkError` if the endpoint is malformed; `BLEError` if scanning fails, or the task is cancelled while
    ///   the scan starts; `CancellationError` if the task is cancelled during the scan.
    public static func device(
        at endpoint: Endpoint, among profiles: GATTProfiles = .families, memory: (any BLENameMemory)? = nil,
        on loop: EventLoop = .shared
    ) async throws -> [Finding] {
        let wanted = try BLEEndpoint(endpoint, among: profiles)
        let bluetooth = await bluetooth(adapter: wanted.adapter, on: loop)
        guard !bluetooth.contains(where: { $0.status == .bad }) else { return bluetooth }
        let devices = try await BLEDeviceSearch(endpoint: wanted, profiles: profiles, loop: loop).devices()
        try Task.checkCancellation()
        var before: BluetoothAddress?
        if case .name(let name) = wanted.target { before = memory?.address(of: name) }
        let device = BLEDeviceCheckup(
            endpoint: endpoint.text, target: wanted.target, inSight: devices.inSight,
            remembered: devices.remembered, profiles: profiles, programs: RunningPrograms.names(), before: before)
        return device.findings + bluetooth
    }
}
