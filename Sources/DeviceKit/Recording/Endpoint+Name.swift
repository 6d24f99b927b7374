public import Transports

extension Endpoint {
    /// The endpoint as a person names it: a path, or without the options that say how it is opened.
    public var nameForPeople: String { scheme == "serial" ? address : text }
}
