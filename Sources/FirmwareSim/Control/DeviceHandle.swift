public import SerialPort

/// Controls a simulated device of any type that a ``DeviceHost`` runs: performs its verbs and reads its observations.
public struct DeviceHandle: Sendable {
    /// The verbs that every device has besides its own.
    static let commonVerbs = ["advance", "reset"]

    /// The names of all verbs, sorted: the device's own, `advance`, `reset`, and `set` if the device has settings.
    public let verbs: [String]

    private let act: @Sendable (String, [String]) async throws(DeviceVerbError) -> Void
    private let look: @Sendable () async -> [String: ObservedValue]
    private let judge: @Sendable () async -> Verdict?
    private let readInput: @Sendable () async -> Void
    private let watch: @Sendable (@escaping @Sendable (StepFailure) -> Void) -> Void
    private let list: @Sendable () async -> [VerbOutline]
    private let findTerminal: @Sendable () async -> PseudoTerminalID?

    init<Device: SimulatedDevice>(_ host: DeviceHost<Device>) {
        verbs = (Device.verbs.map(\.name) + Self.commonVerbs + (Device.settings.isEmpty ? [] : ["set"])).sorted()
        act = { verb, arguments throws(DeviceVerbError) in try await host.perform(verb, arguments) }
        look = { await host.observe() }
        judge = { await host.verdict() }
        readInput = { await host.catchUp() }
        watch = { host.onStepFailure($0) }
        list = { await host.outlines() }
        findTerminal = { await host.openTerminal }
    }

    /// Performs a verb on the device now.
    ///
    /// - Parameters:
    ///   - verb: A name from ``verbs``. `reset` resets the board. `advance` takes a duration, which passes as in
    ///     ``DeviceHost/advance(by:)``. `set` takes an option and its value.
    ///   - arguments: The arguments as typed, in the verb's order.
    /// - Throws: ``DeviceVerbError`` if the verb is unknown, has invalid arguments, or can't be performed. The verb
    ///   then had no effect.
    public func perform(_ verb: String, _ arguments: [String] = []) async throws(DeviceVerbError) {
        try await act(verb, arguments)
    }

    /// Returns the present observations of the device. If a value has a unit, its key ends in the unit. `port`, if
    /// present, is the path or address at which the device is served; `lost_bytes`, if present, counts bytes lost
    /// because clients or the radio took output too slowly.
    public func observe() async -> [String: ObservedValue] { await look() }

    /// Returns the verbs with their arguments.
    public func outlines() async -> [VerbOutline] { await list() }

    /// Returns the pseudo-terminal that a program has open to use the device; nil if there is none.
    public func openTerminal() async -> PseudoTerminalID? { await findTerminal() }

    /// Returns the verdict on the program that uses the device, up to now; nil if nothing is expected of that program and
    /// no scenario step has failed.
    public func verdict() async -> Verdict? { await judge() }

    /// Reads the input that clients have sent so far. Call this before the device's server is closed if a verdict will
    /// be needed after that; ``verdict()`` calls it too.
    public func catchUp() async { await readInput() }

    /// Calls `handler` for each scenario step that fails, on the thread of the loop on which the device runs.
    public func onStepFailure(_ handler: @escaping @Sendable (StepFailure) -> Void) { watch(handler) }
}

extension DeviceHost {
    /// A handle that controls the device.
    public nonisolated var handle: DeviceHandle { DeviceHandle(self) }

    fileprivate func perform(_ verb: String, _ arguments: [String]) async throws(DeviceVerbError) {
        // A verb `advance` of the device itself takes precedence.
        if verb == "advance", !Device.verbs.contains(where: { $0.name == verb }) {
            let settings = try SimulatorSettings(arguments, as: [Self.time], of: verb)
            if let time = settings.time(Self.time.name) { await advance(by: time) }
            return
        }
        let action = try Device.action(verb, arguments, known: handle.verbs)
        try change { device, now in
            Result { () throws(DeviceVerbError) in try action(&device, now) }
        }.get()
    }

    /// Returns the observations of the device, with `lost_bytes` and `port` from this ``DeviceHost``.
    fileprivate func observe() -> [String: ObservedValue] {
        var observed = change { device, _ in device.observations }
        if lostBytes > 0 { observed["lost_bytes"] = .integer(lostBytes) }
        if let port { observed["port"] = .text(port) }
        return observed
    }
}
