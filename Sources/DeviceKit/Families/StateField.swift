/// Something that can be known of a device.
public struct StateField: Sendable, Hashable {
    /// What puts a value in doubt: nothing is known of it until the device tells it again.
    public enum Doubt: Sendable, Hashable {
        /// The link was lost, or the device does not answer.
        case linkLost
        /// The device has started anew.
        case restart
        /// A command was sent, and may have been carried out or not.
        case unknownOutcome
        /// The device was switched on or off.
        case switching
    }

    /// Its key in what programs are told and in records, with its unit at the end: `skin_temp_c`.
    public var key: String
    /// What people call it: `skin`.
    public var label: String
    /// What it may be. A value out of that range is a sensor's fault, and is not told.
    public var value: ValueRange
    /// Its unit, as people write it; nil where it has none.
    public var unit: String?
    /// What makes it unknown.
    public var forgetting: Set<Doubt>

    /// A field.
    public init(
        _ key: String, _ label: String, _ value: ValueRange, unit: String? = nil, forgetting: Set<Doubt> = [.linkLost]
    ) {
        self.key = key
        self.label = label
        self.value = value
        self.unit = unit
        self.forgetting = forgetting
    }
}
