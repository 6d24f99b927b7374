import DescriptorIO
import LineProtocol
import Transports

/// Waits for a device that has gone to be there again.
///
/// A serial port is tried when something changes in its folder, which is at once when it is plugged in; every endpoint
/// is tried each ``interval`` as well, since a link to a port may lead to another folder, and a server sends no word.
struct Reopening {
    /// The longest time between two attempts.
    static let interval = Duration.seconds(1)

    let context: CommandContext

    /// Opens the link as soon as it can be opened.
    ///
    /// - Parameter note: Where to show what goes over it, if that is asked for.
    /// - Throws: `LinkError` for what waiting does not mend; `CancellationError`.
    func link(_ endpoint: Endpoint, note: @escaping @Sendable (String) -> Void) async throws -> any Link {
        while true {
            let deadline = context.clock.now.advanced(by: Self.interval)
            let watch = Self.folder(of: endpoint).flatMap { DirectoryWatch(path: $0) }
            do {
                return try await context.openLink(endpoint, note: note)
            } catch let error as LinkError where Self.isMendedByWaiting(error) {
                try Task.checkCancellation()
            }
            guard let watch else {
                try await context.clock.sleep(until: deadline)
                continue
            }
            do { try await watch.wait(until: deadline, on: context.loop) } catch { throw CancellationError() }
        }
    }

    private static func isMendedByWaiting(_ error: LinkError) -> Bool {
        switch error.code {
        case .invalidEndpoint, .ambiguous, .unsupported, .cancelled: false
        // A port that has just appeared is not yet its group's, and whoever names it may look at it first.
        case .notPermitted, .busy: true
        case .notFound, .disconnected, .closed, .timedOut, .system: true
        }
    }

    /// The folder in which a serial port appears.
    private static func folder(of endpoint: Endpoint) -> String? {
        guard endpoint.scheme == "serial", let slash = endpoint.address.lastIndex(of: "/") else { return nil }
        return slash == endpoint.address.startIndex ? "/" : String(endpoint.address[..<slash])
    }
}
