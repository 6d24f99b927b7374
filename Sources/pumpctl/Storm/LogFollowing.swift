import DeviceKit
import LineProtocol
import RecordFormat
import Transports

extension CommandContext {
    /// `storm log live`: writes what the sensor measures as it comes, until so many rows were written, also behind a link that
    /// was lost.
    func followLog(at endpoint: Endpoint, _ writer: LiveRowWriter, count: Int?) async throws {
        let link = try await openLink(endpoint, for: .watching, note: output.note)
        let rows = StormMonitor(
            over: link, reconnector(endpoint, link, note: output.note), from: endpoint.stormCharacteristic)
        try await rows.closing {
            let recording = try await Recording.begin(self, endpoint, isDefault: true)
            var (rest, hasWarned) = (count, false)
            for try await event in rows {
                switch event {
                case .heard(let row):
                    if row.mayBeCut, !hasWarned {
                        hasWarned = true
                        output.note(
                            "pumpctl: warning: rows fill their packets: the ends of values may be missing",
                            hint: "read them by a serial port, or have the sensor ask for a larger MTU")
                    }
                    try writer.write(row)
                    recording?.record(row)
                    rest = rest.map { $0 - 1 }
                    if rest == 0 { return }
                case .lost(let error):
                    recording?.record(.error(code: "lost", text: "\(error)"))
                    recording?.endSession("lost")
                    output.note(
                        "pumpctl: \(error); waiting for the device to come back. What it measures meanwhile is in its log"
                    )
                case .back:
                    output.note("pumpctl: \(endpoint.text) is back")
                    recording?.beginSession(at: endpoint)
                    hasWarned = false
                }
            }
        }
    }
}
