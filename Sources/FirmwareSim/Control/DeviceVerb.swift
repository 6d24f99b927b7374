/// An action of a person or the environment on a running device, described as data: press its button, warm its probe.
///
/// ```swift
/// DeviceVerb("turn", [SimulatorOption("position", .decimal(0...1), help: "…")], help: "Turn the knob.") {
///     pump, values, _ in
///     pump.setPotentiometer(Int((values.decimal("position") ?? 0) * 1023))
/// }
/// ```
public struct DeviceVerb<Device>: Sendable {
    /// The name, in lower case, such as `press`.
    public let name: String
    /// The arguments, in order. All are required.
    public let arguments: [SimulatorOption]
    /// A sentence that describes the action, for help texts.
    public let help: String

    package let perform: @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void

    /// Creates a verb.
    ///
    /// - Parameters:
    ///   - name: The word for the action.
    ///   - arguments: The arguments, in order.
    ///   - help: The effect in a few words.
    ///   - perform: Performs the action at an instant. The values have been checked against `arguments`. If the closure
    ///     throws, it must have changed nothing.
    public init(
        _ name: String, _ arguments: [SimulatorOption] = [], help: String,
        perform: @escaping @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void
    ) {
        self.name = name
        self.arguments = arguments
        self.help = help
        self.perform = perform
    }

    /// Checks the typed arguments of this verb.
    package func settings(_ given: [String]) throws(DeviceVerbError) -> SimulatorSettings {
        try SimulatorSettings(given, as: arguments, of: name)
    }
}
