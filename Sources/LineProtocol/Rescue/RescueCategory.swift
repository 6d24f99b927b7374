/// The kind of a message. Unknown kinds keep their names.
public struct RescueCategory: RawRepresentable, Sendable, Hashable {
    /// The name on the wire, such as `Road Closure`.
    public let rawValue: String

    /// Creates the category with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A road is closed.
    public static let roadClosure = RescueCategory(rawValue: "Road Closure")
    /// There is a flood.
    public static let flooding = RescueCategory(rawValue: "Flooding")
    /// A place to stay.
    public static let shelter = RescueCategory(rawValue: "Shelter")
    /// Something that others may need.
    public static let resource = RescueCategory(rawValue: "Resource")
    /// Somebody needs help; it raises an alert.
    public static let sos = RescueCategory(rawValue: "SOS")
    /// Anything else.
    public static let other = RescueCategory(rawValue: "Other")

    /// The categories that the protocol defines.
    public static let known: [RescueCategory] = [.roadClosure, .flooding, .shelter, .resource, .sos, .other]
}
