internal import DeviceKit
internal import LineProtocol

/// A link that notes when anything arrives.
final class HeardLink: LinkWrapper {
    let link: any Link
    private let heard: HeardTime

    init(_ link: any Link, _ heard: HeardTime) {
        self.link = link
        self.heard = heard
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if bytes != nil { heard.note() }
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { [heard] arrival in
            if case .bytes = arrival { heard.note() }
            receiver(arrival)
        }
    }
}
