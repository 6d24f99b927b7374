internal import CaptureFormat
public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// Opens `replay:FILE`, which plays the device's side of a captured session.
///
/// Each call for the same file opens the next link of the capture: a program that reconnects after a loss gets the link
/// that followed the loss.
///
/// ```swift
/// let opener = ReplayOpener()
/// schemes.add("replay") { endpoint, loop throws(LinkError) in try await opener.open(endpoint, on: loop) }
/// ```
public final class ReplayOpener: Sendable {
    private let clock: (any Clock<Duration>)?
    /// The number of links that were opened from each file.
    private let opened = Mutex<[String: Int]>([:])
    /// The error of each file whose replay the host departed from. Later links to the file fail with this error.
    private let departures = Mutex<[String: LinkError]>([:])

    /// Creates an opener.
    ///
    /// - Parameter clock: The clock that paces the replay; nil for the clock of the link's loop.
    public init(clock: (any Clock<Duration>)? = nil) { self.clock = clock }

    /// Opens the next link of a capture.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint; its address is the path of the file. Its option `pace` is `original` (the default)
    ///     or `none`. With `none`, received bytes follow as soon as the host has sent all bytes that precede them in
    ///     the capture.
    ///   - loop: The event loop that the link runs on.
    /// - Throws: For example `notFound` if there is no such file, or no further link in it; `unsupported` if the file
    ///   is not a capture, or its version is too new; the error of the departure, if the host has departed from the
    ///   capture.
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
    /// Converts the error of a capture that can't be opened.
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
