public import DescriptorIO

/// A kind of simulated device: its name, its options as data, and a closure that makes the device.
///
/// ```swift
/// let thermometer = Simulator(
///     "thermometer",
///     options: [
///         .baud(9600), .unpaced, SimulatorOption("offset", .number(-5...5), default: "0", help: "Its error in K."),
///     ]
/// ) { settings in
///     Thermometer(offset: settings.number("offset") ?? 0, lineRate: settings.lineRate)
/// }
/// let settings = try thermometer.settings(["offset": "2"])
/// try await thermometer.serve(settings, at: .terminal(link: "/tmp/thermometer")) { print($0) }
/// ```
public struct Simulator: Sendable {
    /// The name, in lower case, such as `pump`.
    public let name: String
    /// The options, in the order of help texts.
    public let options: [SimulatorOption]
    /// Whether the device waits for a slow reader even on a paced line, and therefore drops no output.
    public let waitsForReader: Bool

    private let make: @Sendable (SimulatorSettings) throws -> any SimulatedDevice

    /// Creates a simulator. By default, its devices drop output on a paced line if the reader is too slow, as on a line
    /// of three wires.
    ///
    /// - Parameters:
    ///   - name: The name of the simulator, such as the family of its devices.
    ///   - options: The options for making a device. The options `fault`, `seed`, `step` and `expect` are added unless
    ///     they are among these.
    ///   - waitsForReader: Whether devices wait for a reader that is too slow, instead of dropping output.
    ///   - make: Makes the device, in the state of a device that was just switched on. May throw an error, for example
    ///     if an option names a file that does not exist.
    public init(
        _ name: String, options: [SimulatorOption], waitsForReader: Bool = false,
        make: @escaping @Sendable (SimulatorSettings) throws -> any SimulatedDevice
    ) {
        self.name = name
        // Every device can have faults, random events, scenario steps and expectations of its host.
        let names = options.map(\.name)
        let more: [SimulatorOption] = [
            .faults(), SimulatorOption("seed", .seed, default: "1", help: "The seed of random events."),
            .steps,
            .expectations,
        ]
        self.options = options + more.filter { !names.contains($0.name) }
        self.waitsForReader = waitsForReader
        self.make = make
    }

    /// Checks the values of options.
    ///
    /// - Parameters:
    ///   - given: The values as typed, by the names of their options.
    ///   - carrier: The carrier over which the device will be reached.
    /// - Throws: ``SimulatorOptionError`` for the first invalid option, in alphabetical order.
    public func settings(
        _ given: [String: String] = [:], over carrier: SimulatorOption.Carrier = .line
    ) throws(SimulatorOptionError) -> SimulatorSettings {
        try SimulatorSettings(options, given, over: carrier)
    }

    /// Makes a device.
    ///
    /// - Throws: The error of the closure that makes the device, for example if a file can't be read.
    public func device(_ settings: SimulatorSettings) throws -> any SimulatedDevice { try make(settings) }

    /// Makes a device, and offers it in real time until the task is cancelled. The cancellation is not an error.
    ///
    /// - Parameters:
    ///   - settings: The values of the options.
    ///   - place: The place at which clients find the device.
    ///   - loop: The event loop on which the device runs.
    ///   - onDevice: Called with a handle that controls the device, before the device is offered.
    ///   - onEvent: Called with the address of the device, and with later events, on any thread.
    /// - Throws: The errors of ``device(_:)`` and ``DeviceHost/serve(at:onEvent:)``, and ``SimulatorOptionError`` if
    ///   the device can't perform a step, or if the settings need a pseudo-terminal and `place` is not one.
    public func serve(
        _ settings: SimulatorSettings, at place: ServingPlace, on loop: EventLoop = .shared,
        onDevice: (@Sendable (DeviceHandle) -> Void)? = nil, onEvent: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        try await serve(
            device(settings), settings, hasFlowControl(settings), at: place, on: loop, onDevice, onEvent)
    }

    /// Makes a device, connects it to a line inside this program, starts it in real time, and returns at once.
    ///
    /// The device runs until the caller closes the line. Expectations of the host are not judged.
    ///
    /// - Parameters:
    ///   - settings: The values of the options.
    ///   - loop: The event loop on which the device runs.
    ///   - onDevice: Called with a handle that controls the device, before the device runs.
    /// - Returns: The caller's end of the line.
    /// - Throws: The errors of ``device(_:)`` and ``DeviceHost/connect()``, and ``SimulatorOptionError`` if the device
    ///   can't perform a step, or if the settings need a pseudo-terminal.
    public func connect(
        _ settings: SimulatorSettings, on loop: EventLoop = .shared,
        onDevice: (@Sendable (DeviceHandle) -> Void)? = nil
    ) async throws -> DescriptorChannel {
        try await connect(device(settings), settings, hasFlowControl(settings), on: loop, onDevice)
    }

    /// Checks an option as typed. For steps, also checks that the device can perform them, if the device can be made.
    package func check(
        _ option: [String: String], over carrier: SimulatorOption.Carrier = .line
    ) throws(SimulatorOptionError) {
        let settings = try settings(option, over: carrier)
        guard !settings.steps().isEmpty, let device = try? device(settings) else { return }
        try check(device, settings)
    }

    // The private functions are generic, because `FaultyDevice` and `DeviceHost` need the type of the device.
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
    /// Creates a device with the faults and the scenario of these settings.
    ///
    /// - Parameter isOnTerminal: Whether the device is on a pseudo-terminal.
    /// - Throws: ``SimulatorOptionError`` if the device can't perform a step.
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
    /// Creates a judge of the expectations and the steps in these settings; nil if there are neither.
    package init?<Device: SimulatedDevice>(_ settings: SimulatorSettings, of device: Device) {
        let expectations = settings.expectations()
        if expectations.isEmpty, settings.steps().isEmpty { return nil }
        self.init(
            expectations, urgent: Device.urgentCommands, lineRate: settings.lineRate, isStream: Device.isStream,
            framing: Device.commandFraming, objection: Device.objection)
    }
}
