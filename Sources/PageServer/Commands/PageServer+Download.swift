internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

// The log or the image of a device, which is fetched from the device while it is sent to the client.
extension PageServer {
    /// Sends a device's content. If the device or the daemon breaks off, the connection ends before the end of the
    /// response, so that no client takes a part for the whole.
    ///
    /// - Throws: ``Problem`` as long as nothing was sent.
    @concurrent
    nonisolated func download(
        _ content: String, _ admission: Admission, _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        try admission.checkShowsEnd()
        try await beginDownload()
        var download = Download()
        do {
            let connection = try await DaemonConnection.open(await call.paths, on: loop).connection
            // The daemon cancels a transfer whose connection ends.
            await whenLeft(channel, close: connection.channel)
            let timer = await loop.scheduleTask(in: patience) { connection.channel.close(promise: nil) }
            defer { timer.cancel() }
            try await connection.executeThenClose { inbound, requests in
                var messages = DaemonMessages(inbound)
                guard let hello = try await messages.next() else { throw Problem.daemonSilent(outcome: "not_sent") }
                timer.cancel()
                try Problem.check(hello: hello)
                try await download.run(content, admission, &messages, requests, outbound, channel)
            }
        } catch {
            await endDownload()
            guard download.hasBegun else { throw error as? Problem ?? .daemonLost(outcome: "nothing_changed") }
            return channel.close(promise: nil)
        }
        await endDownload()
    }

    private func whenLeft(_ channel: any Channel, close daemon: any Channel) {
        whenClosed(channel) { daemon.close(promise: nil) }
    }

    /// The largest number of downloads under way.
    private static let downloadLimit = 8

    private func beginDownload() throws(Problem) {
        guard downloadCount < Self.downloadLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(Self.downloadLimit) downloads are under way",
                hint: "wait for their end first", outcome: "not_sent")
        }
        downloadCount += 1
    }

    private func endDownload() { downloadCount -= 1 }
}

extension PageServer.Admission {
    /// Refuses a request whose client could not see that the response broke off, or that has other parameters than
    /// these.
    func checkShowsEnd(_ names: String...) throws(Problem) {
        try request.checkQuery(names)
        guard request.head.version == .http1_1 else {
            throw .badRequest("a response of HTTP/1.0 can't show that it broke off", hint: "use HTTP/1.1")
        }
    }
}

/// A download under way.
private struct Download {
    /// Whether the head of the response was sent.
    private(set) var hasBegun = false
    /// The size of the content in bytes; nil if the device has not announced it.
    private var size: Int?
    /// Bytes of the content that were not sent.
    private var waiting = ByteBuffer()

    /// The number of waiting bytes at which these are sent even if more pieces have arrived.
    private static let writeLength = 65_536

    /// Requests the content from the daemon, and passes it on until it is complete.
    @concurrent
    mutating func run(
        _ content: String, _ admission: PageServer.Admission, _ messages: inout DaemonMessages,
        _ requests: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ outbound: PageServer.Writer, _ channel: any Channel
    ) async throws {
        var request: [String: JSONValue] = ["id": 0, "do": "transfer", "content": .text(content)]
        request["device"] = .text(admission.name)
        request["by"] = .text("page session \(admission.session?.id ?? "")")
        try await requests.write(ByteBuffer(bytes: Array(JSONValue.object(request).bytes) + [0x0A]))
        while let message = try await messages.next() {
            // Only a piece has data. Asking for it first saves a walk over the data for the name of the event.
            if let data = message["data"] {
                guard let bytes = data.base64 else {
                    try await flush(outbound)
                    throw Problem.otherVersion
                }
                waiting.writeBytes(bytes)
            } else if let event = message["event"]?.text {
                if event == "progress" { size = message["total"]?.integer ?? size }
            } else {
                try await flush(outbound)
                if let error = message["error"] { throw Problem(daemonError: error) }
                try await begin(outbound)
                return try await PageServer.end(channel, trailers(message))
            }
            // Pieces that arrived together are sent together: a write costs more than its bytes.
            if !messages.hasNext() || waiting.readableBytes >= Self.writeLength { try await flush(outbound) }
        }
        throw Problem.daemonLost(outcome: "nothing_changed")
    }

    /// Sends the bytes that wait.
    @concurrent
    private mutating func flush(_ outbound: PageServer.Writer) async throws {
        guard waiting.readableBytes > 0 else { return }
        try await begin(outbound)
        try await outbound.write(.body(.byteBuffer(waiting)))
        waiting = ByteBuffer()
    }

    @concurrent
    private mutating func begin(_ outbound: PageServer.Writer) async throws {
        guard !hasBegun else { return }
        hasBegun = true
        var headers = HTTPHeaders(Reply.commonHeaders)
        headers.add(name: "Content-Type", value: "application/octet-stream")
        headers.add(name: "Content-Disposition", value: "attachment")
        // A device can't send a part of its content, and the next reading may differ.
        headers.add(name: "Accept-Ranges", value: "none")
        headers.add(name: "Connection", value: "close")
        // Not Content-Length: only the daemon's answer, which follows the last byte, says that the content is whole.
        if let size { headers.add(name: "Announced-Length", value: "\(size)") }
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
    }

    /// The number of a log's lines that are no measurements, in a field behind the content. An image, whose size the
    /// device announces, has no such number.
    private func trailers(_ message: JSONValue) -> HTTPHeaders? {
        guard size == nil, let lines = message["odd_lines"]?.integer else { return nil }
        return ["Odd-Lines": "\(lines)"]
    }
}
