internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RecordFormat
internal import StrictJSON

/// An HTTP server for the devices of a pumpctld, of which it is a client.
///
/// `docs/http.md` describes the interface, and `packaging/schema/http.openapi.json` defines it. Everything but the changes
/// of the file of sessions runs on one thread, that of the event loop.
package actor PageServer {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    nonisolated let loop: any EventLoop
    /// Runs everything that is not isolated on the loop's thread too.
    nonisolated let executor: LoopExecutor
    nonisolated let settings: PageSettings
    private let originGuard: OriginGuard
    private let listener: any Channel
    /// The number of the file of the Unix socket.
    private let node: UInt?
    var sessions: SessionFile

    /// The IDs of the current sessions, and the time at which to look at the file again.
    var knownSessions: (ids: Set<String>, until: Duration) = ([], .zero)

    /// Whether the server ends. It takes no changes then.
    var isEnding = false
    /// The connections of clients.
    private var clients: [ObjectIdentifier: Client] = [:]
    var ring: EventRing
    /// The readers that wait for an event.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The numbers of open streams of events by the IDs of their sessions.
    var streams: [String: Int] = [:]
    var watch = DaemonWatch()
    /// The task that watches the daemon; nil while nobody needs it.
    var watching: Task<Void, Never>?
    /// The questions of clients that wait for a place on the watched connection.
    var askers: [CheckedContinuation<Void, Never>] = []
    /// The number of questions of clients on the watched connection.
    var askingCount = 0
    /// The end of the time in which a client without a stream may send a change by what it has read.
    var leaseEnds = Duration.zero
    var log = CommandLog<Reply>()
    /// The number of commands under way, without stops.
    var commandCount = 0
    /// The number of requests under way that make the daemon look at its record or its computer.
    var lookCount = 0
    /// The changes under way.
    var changes: [ObjectIdentifier: Change] = [:]
    /// The stops under way, by the name of the device.
    var stops: [String: StopQueue] = [:]
    /// Runs every two seconds as long as the daemon is watched.
    var ticker: RepeatedTask?

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private struct Client {
        let channel: any Channel
        /// Whether a request with a valid token came.
        var isKnown = false
        /// Whether a request is being read or answered.
        var isBusy = false
        /// Called when the connection ends.
        var onEnd: (() -> Void)?
        let since: Duration
    }

    /// Starts a server.
    ///
    /// - Throws: ``PageError``.
    package static func start(_ settings: PageSettings) async throws(PageError) -> PageServer {
        var sessions = SessionFile(path: settings.sessionPath)
        do throws(SessionFile.Failure) { _ = try sessions.current(at: .now) } catch { throw PageError(error) }
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let executor = LoopExecutor(loop)
        // A task holds each connection from the beginning: NIO ends the program if one is dropped, as a stream of
        // connections does whose reader has left.
        let server = loop.makePromise(of: PageServer.self)
        do throws(PageError) {
            let listener = try await listen(settings, on: loop) { connection in
                Task(executorPreference: executor) { try? await server.futureResult.get().serve(connection) }
            }
            let port = listener.localAddress?.port
            let settings = settings.listening(atPort: port)
            let result = PageServer(settings, listener, port, sessions, executor, on: loop)
            server.succeed(result)
            return result
        } catch {
            server.fail(error)
            throw error
        }
    }

    private init(
        _ settings: PageSettings, _ listener: any Channel, _ port: Int?, _ sessions: SessionFile,
        _ executor: LoopExecutor, on loop: any EventLoop
    ) {
        self.settings = settings
        self.listener = listener
        if case .unix(let path) = settings.address { node = PageError.node(path) } else { node = nil }
        self.sessions = sessions
        self.loop = loop
        self.executor = executor
        originGuard = OriginGuard(port: port, names: Set(settings.names.map { $0.lowercased() }))
        // A server that is started again must not take the numbers of the one before for its own.
        ring = EventRing(startingAt: Int.random(in: 1...Int(UInt32.max)) << 20)
        ring.append(at: Self.now, certainUntil: .zero) { _ in [] }
    }

    private static func listen(
        _ settings: PageSettings, on loop: any EventLoop, serve: @escaping @Sendable (Connection) -> Void
    ) async throws(PageError) -> any Channel {
        let limits = settings.limits
        let bootstrap = ServerBootstrap(group: loop).serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    var decoding = NIOHTTPDecoderLimitConfiguration()
                    (decoding.maxHeaderFieldSize, decoding.maxHeaderListSize, decoding.maxHeaderFieldCount) = (
                        8192, 16_384, 64
                    )
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(
                        withErrorHandling: false, withEncoderConfiguration: .init(),
                        withDecoderLimitConfiguration: decoding)
                    try pipeline.addHandler(RequestTimer(limits))
                    serve(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
                }
            }
        do {
            switch settings.address {
            case .loopback(let host, let port):
                guard OriginGuard.isLoopback(host) else { throw PageError.notLoopback(host) }
                return try await bootstrap.bind(host: host, port: port).get()
            case .unix(let path):
                try PageError.removeStale(path)
                let listener = try await bootstrap.bind(unixDomainSocketPath: path).get()
                PageError.letGroupIn(path)
                return listener
            }
        } catch let error as PageError { throw error } catch { throw PageError(error, settings.address) }
    }

    /// The address at which the server listens.
    package var address: PageSettings.Address { settings.address }

    /// The time since a fixed moment. It does not depend on the system's date, and goes on while the computer sleeps.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    // MARK: Connections

    /// Serves until the task is cancelled.
    package nonisolated func run() async {
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: { [listener] in
            listener.close(promise: nil)
        }
        await closeAll()
    }

    /// Ends all connections. Waits for stops under way, and for answers, for 2.5 s at most: pumpctld gives this program
    /// three seconds.
    private func closeAll() async {
        if case .unix(let path) = settings.address { PageError.remove(path, node: node) }
        isEnding = true
        wake()
        let end = Self.now + .milliseconds(2500)
        while !stops.isEmpty || clients.values.contains(where: \.isBusy), Self.now < end {
            await pause(milliseconds: 10)
        }
        for client in clients.values { client.channel.close(promise: nil) }
    }

    /// Serves a connection until either side ends it.
    @concurrent
    private nonisolated func serve(_ connection: Connection) async {
        await add(connection.channel)
        try? await connection.executeThenClose { inbound, outbound in
            var parts = inbound.makeAsyncIterator()
            while case .head(let head)? = try await parts.next() {
                await note(isBusy: true, connection.channel)
                guard try await answer(head, &parts, outbound, connection.channel) else { return }
                await note(isBusy: false, connection.channel)
            }
        }
        await remove(connection.channel)
    }

    private func add(_ channel: any Channel) {
        makeRoom()
        clients[ObjectIdentifier(channel)] = Client(channel: channel, since: Self.now)
        channel.closeFuture.whenComplete { [executor] _ in
            Task(executorPreference: executor) { await self.end(of: channel) }
        }
    }

    private func end(of channel: any Channel) { clients[ObjectIdentifier(channel)]?.onEnd?() }

    /// Sets the function that is called if a client's connection ends now.
    func whenClosed(_ channel: any Channel, _ onEnd: (() -> Void)?) {
        guard channel.isActive else { return onEnd?() ?? () }
        clients[ObjectIdentifier(channel)]?.onEnd = onEnd
    }

    private func note(isBusy: Bool, _ channel: any Channel) { clients[ObjectIdentifier(channel)]?.isBusy = isBusy }

    private func remove(_ channel: any Channel) { clients[ObjectIdentifier(channel)] = nil }

    /// Closes the oldest connection without a valid token if there are too many, or else the oldest without a request:
    /// clients that only occupy connections must not keep others out.
    private func makeRoom() {
        let strangers = clients.values.filter { !$0.isKnown }
        let isFull = clients.count >= settings.limits.connections
        guard isFull || strangers.count >= settings.limits.strangers else { return }
        let candidates = strangers.isEmpty ? clients.values.filter { !$0.isBusy } : strangers
        guard let oldest = candidates.min(by: { $0.since < $1.since })?.channel else { return }
        remove(oldest)
        oldest.close(promise: nil)
    }

    typealias Parts = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    typealias Writer = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// Answers a request. Returns whether another may follow on the connection.
    @concurrent
    private nonisolated func answer(
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
            // A stop has no body, and does not wait for one.
            if !isRead, admission.route.operation != .stop {
                body = try await Self.read(&parts, of: head)
                isRead = true
            }
            switch admission.route.operation {
            case .events:
                try await stream(admission, outbound, channel)
                return false
            case .log, .image:
                try await download(admission.route.operation == .log ? "log" : "image", admission, outbound, channel)
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
            .head(reply.head(closes: closes)), .body(.byteBuffer(ByteBuffer(bytes: body))), .end(nil),
        ])
        return !closes
    }

    /// A request that may be carried out.
    struct Admission: Sendable {
        let request: Request
        let route: Route
        /// The device in the path; empty if the path names none.
        let device: String
        /// The session; nil if the route is open.
        let session: Session?
    }

    /// Checks the origin, the path and the permission of a request.
    private func admit(_ head: HTTPRequestHead, _ channel: any Channel) async throws(Problem) -> Admission {
        try originGuard.check(head.headers)
        let request = try Request(head)
        let (route, device) = try route(of: request)
        let session = try await session(of: request, for: route)
        if session != nil { clients[ObjectIdentifier(channel)]?.isKnown = true }
        return Admission(request: request, route: route, device: device, session: session)
    }

    private func route(of request: Request) throws(Problem) -> (Route, device: String) {
        switch Route.match(request.head.method, request.segments) {
        case .found(let route, let device): return (route, device)
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

    /// Reads the body of a request.
    @concurrent
    private static func read(_ parts: inout Parts, of head: HTTPRequestHead) async throws(Problem) -> [UInt8] {
        guard head.method == .POST else { throw .badRequest("a \(head.method.rawValue) request has no body") }
        guard head.headers["content-type"].first?.prefix(while: { $0 != ";" }).lowercased() == "application/json" else {
            throw Problem(
                .unsupportedMediaType, "wrong_type", "the body must be JSON",
                hint: "send the header Content-Type: application/json", outcome: "not_sent")
        }
        var body: [UInt8] = []
        do {
            while let part = try await parts.next() {
                switch part {
                case .body(let buffer): body += buffer.readableBytesView
                case .end: return body
                case .head: break
                }
                guard body.count <= Self.bodyLimit else {
                    throw Problem(
                        .payloadTooLarge, "too_long", "the body is longer than \(Self.bodyLimit) bytes",
                        outcome: "not_sent")
                }
            }
        } catch let problem as Problem { throw problem } catch {}
        throw .badRequest("the body is incomplete")
    }

    /// The largest length of a request's body in bytes.
    private static let bodyLimit = 16_384

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

    /// Returns the refusal of a wrong token or code, after a delay that makes guessing slow. Others are not delayed.
    func wrong(_ message: String) async -> Problem {
        await pause(milliseconds: Int64(settings.limits.wrongToken))
        return Problem(
            .unauthorized, "wrong_token", message, hint: "log in with a new code: pumpctl page --code",
            outcome: "not_sent")
    }

    // MARK: Events

    /// Publishes an event and returns its number.
    @discardableResult
    func publish(_ event: String, _ data: JSONValue) -> Int {
        let number = append { Array("id: \($0)\nevent: \(event)\ndata: \(data)\n\n".utf8) }
        wake()
        return number
    }

    /// Publishes the time, and that nothing else happened until the time up to which everything is certain.
    func tick() {
        append { Array(": \($0) \(RecordTime.now.iso8601)\n\n".utf8) }
        wake()
    }

    @discardableResult
    private func append(_ bytes: (_ number: Int) -> [UInt8]) -> Int {
        ring.append(at: Self.now, certainUntil: watch.certainUntil, bytes)
    }

    /// Waits for the next event, or the end of a stream.
    func nextEvent() async { await withCheckedContinuation { waiters.append($0) } }

    /// Resumes the readers that wait for an event.
    func wake() {
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
    }

    func pause(milliseconds: Int64) async {
        try? await loop.scheduleTask(in: .milliseconds(milliseconds)) {}.futureResult.get()
    }

    /// Whether anybody needs the daemon's events.
    var isWatched: Bool { !streams.isEmpty || !stops.isEmpty || Self.now < leaseEnds }
}

extension Problem {
    init(_ failure: SessionFile.Failure) {
        self.init(.serviceUnavailable, "sessions_unusable", "\(failure)", hint: failure.hint, outcome: "not_sent")
    }
}
