/// A device that is hosted, to whoever moves its knob: it does not matter which device it is.
public struct DeviceHandle: Sendable {
    /// What can be done to any device, beside its own verbs.
    static let commonVerbs = ["advance", "reset"]

    /// What can be done to it, by name.
    public let verbs: [String]

    private let act: @Sendable (String, [String]) async throws(DeviceVerbError) -> Void
    private let look: @Sendable () async -> [String: ObservedValue]
    private let judge: @Sendable () async -> Verdict?
    private let watch: @Sendable (@escaping @Sendable (StepFailure) -> Void) -> Void

    init<Device: SimulatedDevice>(_ host: DeviceHost<Device>) {
        verbs = (Device.verbs.map(\.name) + Self.commonVerbs + (Device.settings.isEmpty ? [] : ["set"])).sorted()
        act = { verb, arguments throws(DeviceVerbError) in try await host.perform(verb, arguments) }
        look = { await host.observe() }
        judge = { await host.verdict() }
        watch = { host.onStepFailure($0) }
    }

    /// Does something to the device now.
    ///
    /// - Parameters:
    ///   - verb: One of ``verbs``. `reset` resets the board. `advance` takes a time, and lets it go by at once, as
    ///     ``DeviceHost/advance(by:)`` does. `set` takes an option and its value.
    ///   - arguments: As they were typed, in the verb's order.
    /// - Throws: Where it can't be done; then nothing was.
    public func perform(_ verb: String, _ arguments: [String] = []) async throws(DeviceVerbError) {
        try await act(verb, arguments)
    }

    /// What can be seen of the device now, by keys that end in their unit. `port` is where it is offered on a line;
    /// `lost_bytes` is what was lost because clients had left too much unread, if anything.
    public func observe() async -> [String: ObservedValue] { await look() }

    /// What was seen of the device's host until now; nil where nothing is expected of it.
    public func verdict() async -> Verdict? { await judge() }

    /// Has `handler` told of each step of the device's scenario that can't be done, on the thread of the host's loop.
    public func onStepFailure(_ handler: @escaping @Sendable (StepFailure) -> Void) { watch(handler) }
}

extension DeviceHost {
    private static var time: SimulatorOption { SimulatorOption("time", .time(), help: "How long.") }

    /// The device as one that is controlled.
    public nonisolated var handle: DeviceHandle { DeviceHandle(self) }

    fileprivate func perform(_ verb: String, _ arguments: [String]) async throws(DeviceVerbError) {
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

    /// What can be seen of the device, and of where it is offered.
    fileprivate func observe() -> [String: ObservedValue] {
        var observed = change { device, _ in device.observations }
        if lostBytes > 0 { observed["lost_bytes"] = .integer(lostBytes) }
        if let port { observed["port"] = .text(port) }
        return observed
    }
}
