public import Transports

extension Endpoint {
    /// The endpoint for people: the path of a serial port without its options; otherwise the whole text.
    public var nameForPeople: String { scheme == "serial" ? address : text }
}
