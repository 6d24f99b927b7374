internal import NIOCore
internal import NIOHTTP1
internal import RecordFormat
internal import StrictJSON

// The stream of events.
extension PageServer {
    /// Sends events until the client or its session has gone, or the server ends.
    @concurrent
    nonisolated func stream(
        _ admission: Admission, _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        guard let session = admission.session else { preconditionFailure("the route of events needs a session") }
        try admission.request.checkQuery()
        try await beginStream(session, channel)
        try? await send(from: admission.request.head.headers["last-event-id"].first, session, outbound, channel)
        await endStream(session)
    }

    private func beginStream(_ session: Session, _ channel: any Channel) throws(Problem) {
        guard streams.values.reduce(0, +) < settings.limits.streams else {
            throw Problem(
                .tooManyRequests, "too_many_streams", "\(settings.limits.streams) streams are open",
                hint: "close a page first")
        }
        streams[session.id, default: 0] += 1
        whenClosed(channel) { self.wakeReaders() }
        startWatching()
    }

    private func endStream(_ session: Session) {
        streams[session.id] = streams[session.id].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    @concurrent
    private nonisolated func send(
        from lastRead: String?, _ session: Session, _ outbound: Writer, _ channel: any Channel
    ) async throws {
        var headers = HTTPHeaders(Reply.commonHeaders)
        headers.add(name: "Content-Type", value: "text/event-stream")
        // Keeps nginx, as a reverse proxy, from holding events back.
        headers.add(name: "X-Accel-Buffering", value: "no")
        headers.add(name: "Connection", value: "close")
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
        var position = Position(number: lastRead.flatMap { Int($0) }, isFirst: lastRead == nil)
        while let bytes = await events(from: &position, session, channel) {
            try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
        }
        try await outbound.write(.end(nil))
    }

    /// The place of a reader in the stream.
    private struct Position {
        /// The number of the last event that was read; nil for a reader that needs a snapshot.
        var number: Int?
        /// Whether the reader never had a snapshot.
        var isFirst: Bool
    }

    /// Waits for events behind a position; nil once the client or its session has gone, or the server ends.
    private func events(from position: inout Position, _ session: Session, _ channel: any Channel) async -> [UInt8]? {
        while channel.isActive, !isEnding, isCurrent(session) {
            // A snapshot must not say that the daemon is away before this server has tried to connect, which is soon
            // done.
            if watch.problem?.code == Problem.daemonUnknown.code {
                await nextEvent()
                continue
            }
            let (bytes, number) =
                position.number.flatMap { ring.events(after: $0) } ?? (snapshot(isFirst: position.isFirst), ring.last)
            position = Position(number: number, isFirst: false)
            if !bytes.isEmpty { return bytes }
            await nextBatch()
        }
        return nil
    }

    /// Whether a session has not ended. The file of sessions is looked at once a second at most.
    func isCurrent(_ session: Session) -> Bool {
        if Self.now < knownSessions.until, knownSessions.ids.contains(session.id) { return true }
        let current = (try? sessions.current(at: .now)) ?? []
        knownSessions = (Set(current.map(\.id)), Self.now + .seconds(1))
        return knownSessions.ids.contains(session.id)
    }

    /// The event with everything that is known now: `snapshot` for a new reader, `resync` for one that has missed
    /// events.
    private func snapshot(isFirst: Bool) -> [UInt8] {
        var members: [String: JSONValue] = [
            "daemon": watch.problem == nil ? "up" : "away", "time": .text(RecordTime.now.iso8601),
            "devices": .array(
                watch.devices.map { device in
                    guard var members = device.dictionary, let name = device["name"]?.text else { return device }
                    members["state"] = watch.states[name].map { $0.message.older(by: Self.now - $0.time) } ?? .null
                    return .object(members)
                }),
        ]
        members["code"] = watch.problem.map { .text($0.code) }
        members["message"] = watch.problem.map { .text($0.message) }
        return Array(
            "id: \(ring.last)\nevent: \(isFirst ? "snapshot" : "resync")\ndata: \(JSONValue.object(members))\n\n".utf8)
    }
}

extension JSONValue {
    /// The state of a device with its ages increased.
    fileprivate func older(by time: Duration) -> JSONValue {
        guard var members = dictionary else { return self }
        func older(_ age: JSONValue) -> JSONValue {
            age.number.map { .number((($0 + time / .seconds(1)) * 1000).rounded() / 1000) } ?? age
        }
        members["age_s"] = members["age_s"].map(older)
        members["ages_s"] = members["ages_s"].flatMap(\.dictionary).map { .object($0.mapValues(older)) }
        return .object(members)
    }
}
