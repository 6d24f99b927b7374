internal import CaptureFormat
public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// Opens `replay:FILE`: the device's side of a captured session.
///
/// A program that opens a file again, as one that looks for a lost device does, gets the next link of the capture.
///
/// ```swift
/// let opener = ReplayOpener()
/// schemes.add("replay") { endpoint, loop throws(LinkError) in try await opener.open(endpoint, on: loop) }
/// ```
public final class ReplayOpener: Sendable {
    private let clock: (any Clock<Duration>)?
    /// How many links of each file were opened.
    private let opened = Mutex<[String: Int]>([:])
    /// The files from which the host has departed, and the error that each link to them ends with from then on.
    private let departures = Mutex<[String: LinkError]>([:])

    /// An opener.
    ///
    /// - Parameter clock: What the pace is measured by; nil for the clock of the link's loop.
    public init(clock: (any Clock<Duration>)? = nil) { self.clock = clock }

    /// Opens the next link of a capture.
    ///
    /// - Parameter endpoint: Its address is the file. `pace` is `original` or `none`, which brings what was received as soon
    ///   as the host has sent what was sent before.
    /// - Throws: `invalidEndpoint`; `notFound` where there is no such file, or no further link in it; `unsupported` where it
    ///   is no capture, or a newer one.
    public func open(_ endpoint: Endpoint, on loop: EventLoop = .shared) async throws(LinkError) -> any Link {
        try endpoint.allowOptions(["pace"])
        if let departure = departures.withLock({ $0[endpoint.address] }) { throw departure }
        let isPaced = try endpoint.choice("pace", of: [("original", true), ("none", false)]) ?? true
        let number = opened.withLock { $0[endpoint.address, default: 0] + 1 }
        do throws(CaptureError) {
            let tape = try ReplayTape(endpoint.address, link: number)
            opened.withLock { $0[endpoint.address] = number }
            return ReplayLink(
                tape, name: endpoint.text, isPaced: isPaced, clock: clock ?? EventLoopClock(loop), on: loop
            ) { [weak self] departure in self?.departures.withLock { $0[endpoint.address] = departure } }
        } catch {
            throw LinkError(error, name: endpoint.text)
        }
    }
}

extension LinkError {
    /// A capture that can't be opened.
    fileprivate init(_ error: CaptureError, name: String) {
        let code: Code =
            switch error.code {
            case .notFound, .noSuchLink: .notFound
            case .notPermitted: .notPermitted
            case .notACapture, .newerVersion: .unsupported
            case .exists, .system: .system
            }
        self.init(code, name: name, activity: "open", detail: error.reason, hint: error.hint)
    }
}
