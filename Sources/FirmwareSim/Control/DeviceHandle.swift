/// A device that is hosted, to whoever moves its knob: it does not matter which device it is.
public struct DeviceHandle: Sendable {
    /// What can be done to any device, beside its own verbs.
    static let commonVerbs = ["advance", "reset"]

    /// What can be done to it, by name.
    public let verbs: [String]

    private let act: @Sendable (String, [String]) async throws(DeviceVerbError) -> Void
    private let look: @Sendable () async -> [String: ObservedValue]
    private let judge: @Sendable () async -> Verdict?

    init<Device: SimulatedDevice>(_ host: DeviceHost<Device>) {
        verbs = (Device.verbs.map(\.name) + Self.commonVerbs + (Device.settings.isEmpty ? [] : ["set"])).sorted()
        act = { verb, arguments throws(DeviceVerbError) in try await host.perform(verb, arguments) }
        look = { await host.observe() }
        judge = { await host.verdict() }
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
}

extension DeviceHost {
    private static var time: SimulatorOption { SimulatorOption("time", .time(), help: "How long.") }

    /// The device as one that is controlled.
    public nonisolated var handle: DeviceHandle { DeviceHandle(self) }

    fileprivate func perform(_ verb: String, _ arguments: [String]) async throws(DeviceVerbError) {
        if let row = Device.verbs.first(where: { $0.name == verb }) {
            let settings = try row.settings(arguments)
            return try change { device, now in
                Result { () throws(DeviceVerbError) in try row.perform(&device, settings, now) }
            }.get()
        }
        switch verb {
        case "advance":
            let settings = try SimulatorSettings(arguments, as: [Self.time], of: verb)
            if let time = settings.time(Self.time.name) { await advance(by: time) }
        case "reset":
            _ = try SimulatorSettings(arguments, as: [], of: verb)
            change { $0.reset(at: $1) }
        case "set" where !Device.settings.isEmpty: try set(arguments)
        default: throw .unknown(verb, known: handle.verbs)
        }
    }

    /// Changes an option: its name, and what it takes at the start too.
    private func set(_ arguments: [String]) throws(DeviceVerbError) {
        guard arguments.count == 2 else { throw .argumentCount(of: "set", names: ["name", "value"]) }
        guard let row = Device.settings.first(where: { $0.option.name == arguments[0] }) else {
            throw .unknownOption(arguments[0], known: Device.settings.map(\.option.name))
        }
        let settings = try SimulatorSettings([arguments[1]], as: [row.option], of: "set")
        try change { device, now in
            Result { () throws(DeviceVerbError) in try row.set(&device, settings, now) }
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
