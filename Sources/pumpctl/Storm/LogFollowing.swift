import DeviceKit
import LineProtocol
import RecordFormat
import Transports

/// `storm log live`: writes what the sensor measures as it comes, also behind a link that was lost.
struct LogFollowing: Sendable {
    private let context: CommandContext
    private let writer: LiveRowWriter
    private let endpoint: Endpoint
    private let count: Int?

    /// - Parameter count: After how many rows to end; nil for no end.
    init(_ context: CommandContext, _ writer: LiveRowWriter, _ endpoint: Endpoint, count: Int?) {
        self.context = context
        self.writer = writer
        self.endpoint = endpoint
        self.count = count
    }

    /// Runs until all rows were written, `time` is over, or a signal ends it.
    func run(for time: Duration?) async throws { try await context.run(for: time) { try await follow() } }

    private func follow() async throws {
        let link = try await context.openLink(endpoint, for: .watching, note: context.output.note)
        let recording: Recording?
        do {
            recording = try await Recording.begin(context, endpoint, isDefault: true)
        } catch {
            await link.close()
            throw error
        }
        try await follow(link, recording)
    }

    private func follow(_ first: any Link, _ recording: Recording?) async throws {
        var rest = count
        try await context.reconnector(endpoint, first, note: context.output.note).follow(first) { error in
            recording?.record(.error(code: "lost", text: "\(error)"))
            recording?.endSession("lost")
            context.output.note(
                "pumpctl: \(error); waiting for the device to come back. What it measures meanwhile is in its log")
        } onReturn: {
            context.output.note("pumpctl: \(endpoint.text) is back")
            recording?.beginSession(at: endpoint)
        } _: { link in
            try await write(from: link, recording, &rest)
        }
    }

    /// Writes rows until `rest` of them were written. The loss of the link is thrown.
    private func write(from link: any Link, _ recording: Recording?, _ rest: inout Int?) async throws {
        var rows = StormLiveRows(over: link, from: endpoint.stormCharacteristic).makeAsyncIterator()
        var hasWarned = false
        while let bytes = try await rows.next() {
            let row = LiveRow(bytes, at: .now)
            if rows.mayBeCut, !hasWarned {
                hasWarned = true
                context.output.note(
                    "pumpctl: warning: rows fill their packets: the ends of values may be missing",
                    hint: "read them by a serial port, or have the sensor ask for a larger MTU")
            }
            try writer.write(row)
            recording?.record(row)
            rest = rest.map { $0 - 1 }
            if rest == 0 { return }
        }
        throw CancellationError()
    }
}
