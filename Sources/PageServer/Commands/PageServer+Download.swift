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
        try admission.request.checkQuery()
        guard admission.request.head.version == .http1_1 else {
            throw .badRequest("a response of HTTP/1.0 can't show that it broke off", hint: "use HTTP/1.1")
        }
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

/// A download under way.
private struct Download {
    /// Whether the head of the response was sent.
    private(set) var hasBegun = false
    /// The size of the content in bytes; nil if the device has not announced it.
    private var size: Int?

    /// Requests the content from the daemon, and passes it on until it is complete.
    @concurrent
    mutating func run(
        _ content: String, _ admission: PageServer.Admission, _ messages: inout DaemonMessages,
        _ requests: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ outbound: PageServer.Writer, _ channel: any Channel
    ) async throws {
        var request: [String: JSONValue] = ["id": 0, "do": "transfer", "content": .text(content)]
        request["device"] = .text(admission.device)
        request["by"] = .text("page session \(admission.session?.id ?? "")")
        try await requests.write(ByteBuffer(bytes: Array(JSONValue.object(request).bytes) + [0x0A]))
        while let message = try await messages.next() {
            switch message["event"]?.text {
            case "progress": size = message["total"]?.integer ?? size
            case "piece":
                guard let bytes = message["data"]?.text.flatMap(Base64.decode) else { throw Problem.otherVersion }
                try await begin(outbound)
                try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
            case nil:
                if let error = message["error"] { throw Problem(daemonError: error) }
                try await begin(outbound)
                return try await PageServer.end(channel, trailers(message))
            default: continue
            }
        }
        throw Problem.daemonLost(outcome: "nothing_changed")
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

    /// The number of a log's lines that are no measurements, in a field behind the content.
    private func trailers(_ message: JSONValue) -> HTTPHeaders? {
        guard size == nil, let lines = message["odd_lines"]?.integer else { return nil }
        return ["Odd-Lines": "\(lines)"]
    }
}

/// Base64 of RFC 4648.
enum Base64 {
    /// The values of the digits; 255 for other bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: .max, count: 256)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Returns the bytes that a text stands for; nil if it is no base64.
    static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        let count = text.lastIndex { $0 != UInt8(ascii: "=") }.map { $0 + 1 } ?? 0
        guard text.count % 4 == 0, text.count - count <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 2)
        var (value, bits): (UInt32, UInt32) = (0, 0)
        for digit in text[..<count] {
            let next = values[Int(digit)]
            guard next < 64 else { return nil }
            (value, bits) = (value << 6 | UInt32(next), bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: value >> bits))
            }
        }
        return bytes
    }
}
