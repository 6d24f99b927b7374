public import DescriptorIO

/// A simulated device of which others know: its name, its options as data, and how to make it.
///
/// ```swift
/// let thermometer = Simulator(
///     "thermometer",
///     options: [.baud(9600), .unpaced, SimulatorOption("offset", .number(-5...5), default: "0", help: "Its error in K.")]
/// ) { settings in
///     Thermometer(offset: settings.number("offset") ?? 0, lineRate: settings.lineRate)
/// }
/// let settings = try thermometer.settings(["offset": "2"])
/// try await thermometer.serve(settings, at: .terminal(link: "/tmp/thermometer")) { print($0) }
/// ```
public struct Simulator: Sendable {
    /// What it is called, in lower case, as `pump`.
    public let name: String
    /// Its options, in the order in which help lists them.
    public let options: [SimulatorOption]
    /// Whether it waits for a slow reader also where its line is paced, and so drops nothing.
    public let waitsForReader: Bool

    private let make: @Sendable (SimulatorSettings) throws -> any SimulatedDevice

    /// A device that drops what a reader is too slow for, as a line of three wires does, unless told otherwise.
    ///
    /// - Parameter make: Makes the device, as it is when it was switched on. It may throw where an option names what is not
    ///   there, as a file.
    public init(
        _ name: String, options: [SimulatorOption], waitsForReader: Bool = false,
        make: @escaping @Sendable (SimulatorSettings) throws -> any SimulatedDevice
    ) {
        self.name = name
        // Any device can have faults, by chance too.
        let names = options.map(\.name)
        let more: [SimulatorOption] = [
            .faults(), SimulatorOption("seed", .seed, default: "1", help: "The seed of what happens by chance."),
            .steps,
            .expectations,
        ]
        self.options = options + more.filter { !names.contains($0.name) }
        self.waitsForReader = waitsForReader
        self.make = make
    }

    /// Checks options.
    ///
    /// - Parameters:
    ///   - given: Their values as they were typed, by their names.
    ///   - carrier: What the device is to be reached over.
    public func settings(
        _ given: [String: String] = [:], over carrier: SimulatorOption.Carrier = .line
    ) throws(SimulatorOptionError) -> SimulatorSettings {
        try SimulatorSettings(options, given, over: carrier)
    }

    /// Makes a device.
    ///
    /// - Throws: What making it throws, as where a file can't be read.
    public func device(_ settings: SimulatorSettings) throws -> any SimulatedDevice { try make(settings) }

    /// Makes a device, and offers it in real time until the task is cancelled.
    ///
    /// - Parameters:
    ///   - onDevice: Told of the device before it is offered, to do something to it while it runs.
    ///   - onEvent: Told where it is, and what becomes of it.
    /// - Throws: As ``device(_:)`` and ``DeviceHost/serve(at:onEvent:)``.
    public func serve(
        _ settings: SimulatorSettings, at place: ServingPlace, on loop: EventLoop = .shared,
        onDevice: (@Sendable (DeviceHandle) -> Void)? = nil, onEvent: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        try await serve(
            device(settings), settings, hasFlowControl(settings), at: place, on: loop, onDevice, onEvent)
    }

    /// Makes a device, and joins it in real time to a line inside this program, until the line is closed.
    ///
    /// - Parameter onDevice: Told of the device before it runs.
    /// - Returns: The far end of the device's line.
    /// - Throws: As ``device(_:)`` and ``DeviceHost/connect()``.
    public func connect(
        _ settings: SimulatorSettings, on loop: EventLoop = .shared,
        onDevice: (@Sendable (DeviceHandle) -> Void)? = nil
    ) async throws -> DescriptorChannel {
        try await connect(device(settings), settings, hasFlowControl(settings), on: loop, onDevice)
    }

    /// Checks one option of a device as it was typed, also that a step can be done to the device.
    package func check(
        _ option: [String: String], over carrier: SimulatorOption.Carrier = .line
    ) throws(SimulatorOptionError) {
        let settings = try settings(option, over: carrier)
        guard !settings.steps().isEmpty, let device = try? device(settings) else { return }
        try check(device, settings)
    }

    private func check(
        _ device: some SimulatedDevice, _ settings: SimulatorSettings
    ) throws(SimulatorOptionError) {
        _ = try FaultyDevice(device, settings)
    }

    private func hasFlowControl(_ settings: SimulatorSettings) -> Bool {
        waitsForReader || settings.lineRate == .unlimited
    }

    private func serve(
        _ device: some SimulatedDevice, _ settings: SimulatorSettings, _ hasFlowControl: Bool, at place: ServingPlace,
        on loop: EventLoop,
        _ onDevice: (@Sendable (DeviceHandle) -> Void)?, _ onEvent: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        if !place.isTerminal { try settings.checkWithoutTerminal() }
        let host = DeviceHost(
            try FaultyDevice(device, settings, isOnTerminal: place.isTerminal), pace: .realTime(EventLoopClock(loop)),
            judge: HostJudge(settings, of: device), hasFlowControl: hasFlowControl, on: loop)
        onDevice?(host.handle)
        try await host.serve(at: place, onEvent: onEvent)
    }

    private func connect(
        _ device: some SimulatedDevice, _ settings: SimulatorSettings, _ hasFlowControl: Bool, on loop: EventLoop,
        _ onDevice: (@Sendable (DeviceHandle) -> Void)?
    ) async throws -> DescriptorChannel {
        try settings.checkWithoutTerminal()
        let host = DeviceHost(
            try FaultyDevice(device, settings, isOnTerminal: false), pace: .realTime(EventLoopClock(loop)),
            hasFlowControl: hasFlowControl, on: loop)
        onDevice?(host.handle)
        return try await host.connect()
    }
}

extension FaultyDevice {
    /// A device with the faults and the scenario of settings.
    ///
    /// - Parameter isOnTerminal: Whether it is on a pseudo-terminal.
    /// - Throws: Where a step is nothing that can be done to the device.
    package init(
        _ device: Device, _ settings: SimulatorSettings, isOnTerminal: Bool = true
    ) throws(SimulatorOptionError) {
        self.init(device, faults: settings.faults(), seed: settings.seed(), lineRate: settings.lineRate)
        choice = settings.choice(isOnTerminal: isOnTerminal)
        ownFault = settings.ownFault()
        do throws(DeviceVerbError) { try add(settings.steps()) } catch {
            throw SimulatorOptionError(SimulatorOption.steps.name, .step(error))
        }
    }
}

extension HostJudge {
    /// A judge of what settings expect of the host of a device; nil where they expect nothing.
    package init?<Device: SimulatedDevice>(_ settings: SimulatorSettings, of device: Device) {
        let expectations = settings.expectations()
        if expectations.isEmpty { return nil }
        self.init(
            expectations, urgent: Device.urgentCommands, lineRate: settings.lineRate, isStream: Device.isStream,
            framing: Device.commandFraming, objection: Device.objection)
    }
}
