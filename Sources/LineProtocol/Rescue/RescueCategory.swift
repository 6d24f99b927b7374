/// What kind of message it is. Those that this protocol does not know are kept as they are named.
public struct RescueCategory: RawRepresentable, Sendable, Hashable {
    /// As on the wire: `Road Closure`.
    public let rawValue: String

    /// The category of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A road is closed.
    public static let roadClosure = RescueCategory(rawValue: "Road Closure")
    /// Water where it should not be.
    public static let flooding = RescueCategory(rawValue: "Flooding")
    /// A place to stay.
    public static let shelter = RescueCategory(rawValue: "Shelter")
    /// Something that others may need.
    public static let resource = RescueCategory(rawValue: "Resource")
    /// Somebody needs help; it raises an alert.
    public static let sos = RescueCategory(rawValue: "SOS")
    /// Anything else.
    public static let other = RescueCategory(rawValue: "Other")

    /// Those that the protocol names.
    public static let known: [RescueCategory] = [.roadClosure, .flooding, .shelter, .resource, .sos, .other]
}
