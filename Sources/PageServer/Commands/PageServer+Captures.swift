internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

// The captures in the folder of the settings. Files are read on other threads: a slow disk must not delay a stop.
extension PageServer {
    /// The largest number of requests for captures under way. A disk that never answers blocks these requests, and as
    /// many threads of NIO's pool, which has one thread for each core and also starts pumpctl.
    private static let captureLimit = 4

    /// Returns the list of captures, sorted by name.
    func captures() async throws(Problem) -> Reply {
        let folder = try beginCapture()
        defer { endCapture() }
        return try await Self.aside { () throws(Problem) in Reply(json: try folder.list()) }
    }

    /// Sends a capture. Bytes that are written to the file afterwards are not sent.
    ///
    /// - Throws: ``Problem`` as long as nothing was sent.
    @concurrent
    nonisolated func sendCapture(
        _ admission: Admission, _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        try admission.request.checkQuery()
        let folder = try await beginCapture()
        do throws(Problem) {
            let capture = try await Self.aside { () throws(Problem) in try folder.open(admission.name) }
            // The response has a length, so the client sees whether it is complete.
            do { try await send(capture, outbound, channel) } catch { channel.close(promise: nil) }
            NIOThreadPool.singleton.submit { _ in capture.close() }
        } catch {
            await endCapture()
            throw error
        }
        await endCapture()
    }

    @concurrent
    private nonisolated func send(_ capture: OpenCapture, _ outbound: Writer, _ channel: any Channel) async throws {
        var headers = HTTPHeaders(Reply.commonHeaders)
        headers.add(name: "Content-Type", value: "application/x-ndjson")
        headers.add(name: "Content-Disposition", value: "attachment")
        headers.add(name: "Content-Length", value: "\(capture.size)")
        headers.add(name: "Connection", value: "close")
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
        var offset = 0
        while offset < capture.size {
            let part = try await Self.aside { [offset] () throws(Problem) in capture.read(from: offset) }
            guard !part.isEmpty, await !isEnding else { return channel.close(promise: nil) }
            try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: part))))
            offset += part.count
        }
        try await Self.end(channel)
    }

    private func beginCapture() throws(Problem) -> CaptureFolder {
        guard let path = settings.captures else {
            throw Problem(
                .notFound, "no_captures", "this server has no folder of captures",
                hint: "start it with --captures FOLDER, or set 'captures' in [http]", outcome: "not_sent")
        }
        guard captureCount < Self.captureLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(Self.captureLimit) requests for captures are under way",
                hint: "wait for an answer first", outcome: "not_sent")
        }
        captureCount += 1
        return CaptureFolder(path: path)
    }

    private func endCapture() { captureCount -= 1 }
}
