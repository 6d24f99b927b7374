/// What a person or the world does to a device that runs, as a row: press its button, warm its probe.
///
/// ```swift
/// DeviceVerb("turn", [SimulatorOption("position", .decimal(0...1), help: "…")], help: "Turn the knob.") {
///     $0.setPotentiometer(Int(($1.decimal("position") ?? 0) * 1023))
/// }
/// ```
public struct DeviceVerb<Device>: Sendable {
    /// What it is called, in lower case, as `press`.
    public let name: String
    /// What it takes, in this order. All of it has to be given.
    public let arguments: [SimulatorOption]
    /// What it does, as a sentence.
    public let help: String

    package let perform: @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void

    /// - Parameter perform: Does it, at that instant; the values are such as the arguments take. Where it throws, it has
    ///   changed nothing.
    public init(
        _ name: String, _ arguments: [SimulatorOption] = [], help: String,
        perform: @escaping @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void
    ) {
        self.name = name
        self.arguments = arguments
        self.help = help
        self.perform = perform
    }

    /// What was given to it, checked.
    package func settings(_ given: [String]) throws(DeviceVerbError) -> SimulatorSettings {
        try SimulatorSettings(given, as: arguments, of: name)
    }
}
