import DeviceKit
import LineProtocol
import Transports

extension CommandContext {
    /// What finds the device again that `link` was opened to.
    ///
    /// - Parameters:
    ///   - looksNow: Whether to look up at once what tells the device from others.
    ///   - note: Where to show what goes over its links, if that is asked for, and what is not taken for it.
    func reconnector(
        _ endpoint: Endpoint, _ link: any Link, looksNow: Bool = true, for use: LinkUse = .watching,
        note: @escaping @Sendable (String) -> Void
    ) -> Reconnector {
        Reconnector(endpoint, link, looksNow: looksNow, on: loop) { [self] endpoint in
            // A module that saves power may be heard only once in a while.
            try await openLink(endpoint, for: use, isBounded: false, note: note)
        } doubt: { error in
            note("pumpctl: \("\(error)".printable()); waiting")
        }
    }
}
