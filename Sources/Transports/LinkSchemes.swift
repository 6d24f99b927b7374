public import DescriptorIO
public import LineProtocol

/// The table of endpoint schemes, each with what opens its links.
///
///     let link = try await LinkSchemes.standard.open(Endpoint("tcp:bench:4000"))
///
/// Others add to it: `pumpctl` adds `sim:`, since this room knows no simulator.
public struct LinkSchemes: Sendable {
    /// Opens a link from an endpoint of one scheme, on an event loop.
    public typealias Opener = @Sendable (Endpoint, EventLoop) async throws(LinkError) -> any Link

    private var openers: [String: Opener] = [:]

    /// A table without a scheme.
    public init() {}

    /// `ble:`, `serial:`, `tcp:`, `unix:`, `usb:`. Of BLE devices those are known that ``GATTProfiles/carriers`` fit; who knows
    /// more adds ``BLEEndpoint/opener(_:)``.
    public static let standard: LinkSchemes = {
        var schemes = LinkSchemes()
        schemes.add("ble") { endpoint, loop throws(LinkError) in try await BLEEndpoint.open(endpoint, on: loop) }
        schemes.add("serial") { endpoint, loop throws(LinkError) in try await SerialLink.open(endpoint, on: loop) }
        schemes.add("tcp") { endpoint, loop throws(LinkError) in try await SocketLink.openTCP(endpoint, on: loop) }
        schemes.add("unix") { endpoint, loop throws(LinkError) in try await SocketLink.openUnix(endpoint, on: loop) }
        schemes.add("usb") { endpoint, loop throws(LinkError) in try await USBEndpoint.open(endpoint, on: loop) }
        return schemes
    }()

    /// The names of the schemes, sorted.
    public var names: [String] { openers.keys.sorted() }

    /// Adds a scheme, or replaces the one of that name.
    public mutating func add(_ scheme: String, _ opener: @escaping Opener) {
        openers[scheme] = opener
    }

    /// Opens a link.
    ///
    /// - Throws: `invalidEndpoint` where no scheme has that name, and what the scheme's opener throws.
    public func open(_ endpoint: Endpoint, on loop: EventLoop = .shared) async throws(LinkError) -> any Link {
        guard let opener = openers[endpoint.scheme] else {
            if let rate = UInt32(endpoint.address) {
                let port = "/dev/\(endpoint.text.prefix { $0 != ":" })"
                throw endpoint.invalid(
                    "write a port with its path, and its baud rate as an option: 'serial:\(port)?baud=\(rate)'")
            }
            throw endpoint.invalid(
                "begin an endpoint with / or one of: " + names.map { $0 + ":" }.joined(separator: " "))
        }
        return try await opener(endpoint, loop)
    }
}
