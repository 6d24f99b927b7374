internal import NIOCore
internal import NIOHTTP1
internal import RecordFormat
internal import StrictJSON

// Requests, from their heads to their replies.
extension PageServer {
    typealias Parts = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// Answers a request. Returns whether another may follow on the connection. Throws if the connection breaks.
    @concurrent
    nonisolated func answer(
        _ head: HTTPRequestHead, _ parts: inout Parts, _ outbound: Writer, _ channel: any Channel
    ) async throws -> Bool {
        let hasBody =
            head.headers.contains(name: "transfer-encoding") || head.headers["content-length"].contains { $0 != "0" }
        var isRead = false
        if !hasBody {
            _ = try await parts.next()
            isRead = true
        }
        let reply: Reply
        do throws(Problem) {
            let admission = try await admit(head, channel)
            var body: [UInt8] = []
            // A stop has no body, and does not wait for one. The image of a peer is read by `hostPeer`.
            if !isRead, ![.stop, .peer].contains(admission.route.operation) {
                body = try await Self.read(&parts, of: head, .json)
                isRead = true
            }
            switch admission.route.operation {
            case .events:
                try await stream(admission, outbound, channel)
                return false
            case .log, .image:
                try await download(admission.route.operation == .log ? "log" : "image", admission, outbound, channel)
                return false
            case .capture:
                try await sendCapture(admission, outbound, channel)
                return false
            case .verify, .latency:
                let command = admission.route.operation == .verify ? "verify" : "latency"
                try await runTrial(command, admission, body, outbound, channel)
                return false
            case .peer:
                try await hostPeer(admission, &parts, hasImage: !isRead, outbound, channel)
                return false
            default: reply = try await perform(admission, body, channel)
            }
        } catch {
            reply = Reply(error)
        }
        let closes = !isRead || !head.isKeepAlive
        // The reply to HEAD has the length of a body, and no body: the client would read it as the next reply.
        let body = head.method == .HEAD ? [] : reply.body
        try await outbound.write(contentsOf: [
            .head(reply.head(closes: closes)), .body(.byteBuffer(ByteBuffer(bytes: body))),
        ])
        if closes { try await Self.end(channel) } else { try await outbound.write(.end(nil)) }
        return !closes
    }

    /// Ends a response, and waits until the system has taken all of it: closing a connection drops the bytes that the
    /// system has not taken.
    @concurrent
    static func end(_ channel: any Channel, _ trailers: HTTPHeaders? = nil) async throws {
        try await channel.writeAndFlush(HTTPServerResponsePart.end(trailers)).get()
    }

    /// A request that may be carried out.
    struct Admission: Sendable {
        let request: Request
        let route: Route
        /// The name in the path, such as that of a device; empty if the route has none.
        let name: String
        /// The session; nil if the route is open.
        let session: Session?
    }

    /// Checks the origin, the path and the permission of a request.
    private func admit(_ head: HTTPRequestHead, _ channel: any Channel) async throws(Problem) -> Admission {
        try originGuard.check(head.headers)
        let request = try Request(head)
        let (route, name) = try route(of: request)
        let session = try await session(of: request, for: route)
        if session != nil { noteToken(channel) }
        return Admission(request: request, route: route, name: name, session: session)
    }

    private func route(of request: Request) throws(Problem) -> (Route, name: String) {
        switch Route.match(request.head.method, request.segments) {
        case .found(let route, let name): return (route, name)
        case .otherMethod(let methods):
            var problem = Problem(
                .methodNotAllowed, "wrong_method", "this path does not take \(request.head.method.rawValue)",
                hint: "use " + methods.map(\.rawValue).joined(separator: " or "), outcome: "not_sent")
            problem.methods = methods
            throw problem
        case .none:
            throw Problem(
                .notFound, "no_such_path", "there is no such path", hint: "see /api/v1/openapi.json",
                outcome: "not_sent")
        }
    }

    /// The type of a request's body, and its largest length in bytes.
    struct BodyKind {
        let (type, limit): (String, Int)

        static let json = BodyKind(type: "application/json", limit: 16_384)
        /// An image that a peer can send: 7,000,000 characters of base64.
        static let image = BodyKind(type: "image/png", limit: 5_250_000)
    }

    /// Reads the body of a request.
    @concurrent
    static func read(
        _ parts: inout Parts, of head: HTTPRequestHead, _ kind: BodyKind
    ) async throws(Problem) -> [UInt8] {
        guard head.method == .POST else { throw .badRequest("a \(head.method.rawValue) request has no body") }
        guard head.headers["content-type"].first?.prefix(while: { $0 != ";" }).lowercased() == kind.type else {
            throw Problem(
                .unsupportedMediaType, "wrong_type", "the body must be of the type \(kind.type)",
                hint: "send the header Content-Type: \(kind.type)", outcome: "not_sent")
        }
        var body: [UInt8] = []
        do {
            while let part = try await parts.next() {
                switch part {
                case .body(let buffer): body += buffer.readableBytesView
                case .end: return body
                case .head: break
                }
                guard body.count <= kind.limit else {
                    throw Problem(
                        .payloadTooLarge, "too_long", "the body is longer than \(kind.limit) bytes",
                        outcome: "not_sent")
                }
            }
        } catch let problem as Problem { throw problem } catch {}
        throw .badRequest("the body is incomplete")
    }

    // MARK: Sessions

    /// Returns the session of a request; nil if its route is open.
    private func session(of request: Request, for route: Route) async throws(Problem) -> Session? {
        guard route.scope != .open else { return nil }
        let headers = request.head.headers["authorization"]
        guard !headers.isEmpty else {
            throw Problem(
                .unauthorized, "no_token", "the request has no token",
                hint: "log in with a code of 'pumpctl page --code', and send Authorization: Bearer TOKEN",
                outcome: "not_sent")
        }
        let parts = headers[0].split(separator: " ")
        let token = headers.count == 1 && parts.count == 2 && parts[0].lowercased() == "bearer" ? String(parts[1]) : ""
        let session: Session?
        do throws(SessionFile.Failure) {
            session = try sessions.session(of: token, isCode: false, at: .now)
        } catch { throw Problem(error) }
        guard let session else { throw await wrong("the token is wrong, has ended, or was revoked") }
        guard session.scope >= route.scope else {
            throw Problem(
                .forbidden, "may_only_look", "this session may only look",
                hint: "log in with a code that was made without --see", outcome: "not_sent")
        }
        return session
    }

    /// Returns the refusal of a wrong token or code, after a delay that makes guessing slow. Other requests are not
    /// delayed.
    func wrong(_ message: String) async -> Problem {
        await pause(milliseconds: Int64(settings.limits.wrongToken))
        return Problem(
            .unauthorized, "wrong_token", message, hint: "log in with a new code: pumpctl page --code",
            outcome: "not_sent")
    }
}

extension Problem {
    init(_ failure: SessionFile.Failure) {
        self.init(.serviceUnavailable, "sessions_unusable", "\(failure)", hint: failure.hint, outcome: "not_sent")
    }
}
