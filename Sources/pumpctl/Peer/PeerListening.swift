import DeviceKit
import Transports

extension CommandContext {
    /// `peer listen`: shows what a peer says as it comes, until so many events were shown, also behind a link that was lost.
    func listenToPeer(count: Int?) async throws {
        let endpoint = try endpoint()
        let link = try await openLink(endpoint, for: .watching, note: output.note)
        let peer = PeerMonitor(over: link, reconnector(endpoint, link, note: output.note))
        try await peer.closing {
            var rest = count
            for try await element in peer {
                guard let event = PeerEvent(element) else { continue }
                let record = Timed(event)
                switch element {
                case .heard:
                    output.result("\(event)", record)
                    rest = rest.map { $0 - 1 }
                    if rest == 0 { return }
                case .lost(let error):
                    output.note("pumpctl: \(error); waiting for the device to come back")
                    output.record(record)
                case .back:
                    output.note("pumpctl: \(endpoint.text) is back")
                    output.record(record)
                }
            }
        }
    }
}
