internal import BlueZ
public import DescriptorIO
public import DeviceKit
internal import Glibc
public import LineProtocol
public import SerialPort
public import Transports

/// What may keep a program from its device: the checks of the computer, of its ports, of Bluetooth, and of a BLE device.
///
/// ```swift
/// let checkup = try Checkup()
/// for finding in checkup.system + (try checkup.port(at: Endpoint("/dev/ttyUSB0"))) {
///     print(finding.check, finding.status, finding.fact)
///     if let remedy = finding.remedy { print(remedy) }
/// }
/// ```
///
/// Nothing is changed: no port is opened, no device connected to, no program started.
public struct Checkup: Sendable {
    /// The serial ports that there were when the checkup began.
    public let ports: [SerialPortInfo]
    private let devicesWithoutPort: [SerialPortInfo.USB]
    /// The programs that ran then, by their names.
    private let programs = RunningPrograms.names()
    private let daemons: Daemons

    /// Looks at what there is now.
    ///
    /// - Parameter daemons: The daemons that may have a port and share it.
    /// - Throws: ``SerialError`` with `system`, where the system can't be asked for its ports.
    public init(daemons: Daemons = Daemons()) throws(SerialError) {
        self.daemons = daemons
        ports = try SerialPortDiscovery.ports()
        devicesWithoutPort = try SerialPortDiscovery.devicesWithoutPort()
    }

    /// What may keep a program from the device of an endpoint; or, without one, from any: every USB port, the computer, and
    /// Bluetooth, which nothing has to be right with then.
    ///
    /// - Parameters:
    ///   - endpoint: The device, at a serial port, `ble:…` or `shared:…`; nil for any.
    ///   - memory: What remembers which BLE device a name led to; nil where nothing does.
    /// - Throws: As ``init()``, ``port(at:)`` and ``device(at:among:memory:on:)``.
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
        // A device that is there needs no USB port if it has another, as at a pseudo-terminal.
        if endpoint.scheme == "serial", access(endpoint.address, F_OK) == 0 {
            system.removeAll { $0.check == .usbPorts && $0.status == .warning }
        }
        return try checkup.port(at: endpoint) + system
    }

    /// The computer as a whole: kernel, drivers, udev, and USB devices without a port.
    public var system: [Finding] {
        SystemCheckup(
            programs: programs, ports: ports, devicesWithoutPort: devicesWithoutPort, kernel: .running(),
            libraries: .loaded()
        ).findings
    }

    /// The ports of USB devices.
    public var usbPorts: [Finding] { ports.filter { $0.usb != nil }.flatMap { findings(for: $0, baudRate: nil) } }

    /// The port of an endpoint `serial:…` or `usb:…`; one that discovery does not know, as a pseudo-terminal, by its node.
    ///
    /// - Throws: `invalidEndpoint`, and what ``USBEndpoint/resolve(_:among:)`` throws.
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
                "name a serial port, a BLE device or one of pumpctld: /dev/ttyUSB0, usb:1a86:7523, ble:HMSoft, "
                    + "shared:pump")
        }
        return findings(for: port, baudRate: try endpoint.number("baud", in: 1...12_000_000))
    }

    /// The device of an endpoint `shared:…`, and the port that its daemon has it at.
    ///
    /// - Throws: `invalidEndpoint`, where no endpoint is written so.
    public func sharedDevice(at endpoint: Endpoint) throws(LinkError) -> [Finding] {
        try endpoint.allowOptions([])
        let checkup = SharedDeviceCheckup(name: endpoint.address, daemons: daemons)
        guard let place = checkup.place, place.isSerialPort else { return checkup.findings }
        return checkup.findings + (try port(at: place))
    }

    private func findings(for port: SerialPortInfo, baudRate: Int?) -> [Finding] {
        PortCheckup(
            port: port, use: .now(of: port.path), processes: PortHolder.processesInSight(), baudRate: baudRate,
            programs: programs, daemons: daemons
        ).findings
    }
}

// MARK: - Bluetooth

extension Checkup {
    /// Bluetooth on this computer.
    ///
    /// - Parameters:
    ///   - isNeeded: Whether a BLE device is wanted. Where none is, nothing of this is bad: a device may be at a cable.
    ///   - adapter: The name or address of the adapter that is wanted; nil for any.
    public static func bluetooth(
        isNeeded: Bool = true, adapter: String? = nil, on loop: EventLoop = .shared
    ) async -> [Finding] {
        await BluetoothCheckup(state: .now(on: loop), isNeeded: isNeeded, adapter: adapter).findings
    }

    /// The BLE device of an endpoint, which is looked for for some 5 s, and Bluetooth. Where something bad is found of that,
    /// the device is not looked for.
    ///
    /// - Parameters:
    ///   - profiles: The profiles that are known.
    ///   - memory: What remembers which device a name led to; nil where nothing does.
    /// - Throws: `LinkError` where the endpoint is not written as one of `ble:`; `BLEError` where looking for it fails.
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
