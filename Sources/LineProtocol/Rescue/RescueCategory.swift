/// The kind of a message. A category that the protocol does not define keeps its name.
public struct RescueCategory: RawRepresentable, Sendable, Hashable {
    /// The name on the wire, such as `Road Closure`.
    public let rawValue: String

    /// Creates the category with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A road is closed.
    public static let roadClosure = RescueCategory(rawValue: "Road Closure")
    /// There is a flood.
    public static let flooding = RescueCategory(rawValue: "Flooding")
    /// There is a place to stay.
    public static let shelter = RescueCategory(rawValue: "Shelter")
    /// There is something that others may need.
    public static let resource = RescueCategory(rawValue: "Resource")
    /// Somebody needs help. Such a message raises an alert.
    public static let sos = RescueCategory(rawValue: "SOS")
    /// Anything else.
    public static let other = RescueCategory(rawValue: "Other")

    /// The categories that the protocol defines.
    public static let known: [RescueCategory] = [.roadClosure, .flooding, .shelter, .resource, .sos, .other]
}
