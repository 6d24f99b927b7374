public import DescriptorIO
public import LineProtocol

/// The table of endpoint schemes with their openers.
///
///     let link = try await LinkSchemes.standard.open(Endpoint("tcp:bench:4000"))
///
/// A program can add schemes: `pumpctl` adds `sim:`, for example, since this module contains no simulator.
public struct LinkSchemes: Sendable {
    /// Opens a link from an endpoint of one scheme on an event loop.
    public typealias Opener = @Sendable (Endpoint, EventLoop) async throws(LinkError) -> any Link

    private var openers: [String: Opener] = [:]

    /// Creates an empty table.
    public init() {}

    /// The schemes `ble:`, `serial:`, `tcp:`, `unix:` and `usb:`.
    ///
    /// `ble:` knows only the profiles of ``GATTProfiles/carriers``. A program with more profiles replaces the opener of
    /// `ble:` by ``BLEEndpoint/opener(_:)``.
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

    /// Adds a scheme, or replaces the opener of an existing scheme.
    ///
    /// - Parameters:
    ///   - scheme: The name of the scheme in lower case, without the colon.
    ///   - opener: Opens a link from an endpoint of the scheme.
    public mutating func add(_ scheme: String, _ opener: @escaping Opener) {
        openers[scheme] = opener
    }

    /// Opens a link.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - loop: The event loop that the link runs on.
    /// - Throws: `invalidEndpoint` if the table lacks the scheme; errors of the scheme's opener.
    public func open(_ endpoint: Endpoint, on loop: EventLoop = .shared) async throws(LinkError) -> any Link {
        guard let opener = openers[endpoint.scheme] else {
            // A port without its path, and a baud rate: `ttyUSB0:9600`.
            if let rate = UInt32(endpoint.address) {
                let port = "/dev/\(endpoint.text.prefix { $0 != ":" })"
                throw endpoint.invalid(
                    "write a port with its path, and the baud rate as an option: 'serial:\(port)?baud=\(rate)'")
            }
            throw endpoint.invalid(
                "begin an endpoint with / or one of: " + names.map { $0 + ":" }.joined(separator: " "))
        }
        return try await opener(endpoint, loop)
    }
}
