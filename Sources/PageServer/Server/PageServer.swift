internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RecordFormat
internal import StrictJSON

/// An HTTP server for the devices of a pumpctld, of which it is a client.
///
/// `docs/http.md` describes the interface, and `packaging/schema/http.openapi.json` defines it. Everything runs on one
/// thread, that of the event loop, except what may block on a slow disk: changing the file of sessions, reading
/// captures, writing the image of a peer, and starting pumpctl.
package actor PageServer {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    nonisolated let loop: any EventLoop
    /// Runs nonisolated functions on the loop's thread too.
    nonisolated let executor: LoopExecutor
    nonisolated let settings: PageSettings
    let originGuard: OriginGuard
    let files = PageFiles()
    private let listener: any Channel
    /// The inode number of the Unix socket; nil on a TCP port.
    private let node: UInt?
    var sessions: SessionFile

    /// The IDs of the current sessions, and the value of ``now`` at which to look at the file again.
    var knownSessions: (ids: Set<String>, until: Duration) = ([], .zero)

    /// Whether the server is ending. It then accepts no changes.
    var isEnding = false
    /// The connections of clients.
    private var clients: [ObjectIdentifier: Client] = [:]
    var ring: EventRing
    /// The requests that wait for an event.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The streams that wait for events.
    private var readers: [CheckedContinuation<Void, Never>] = []
    /// Whether events for the streams wait to be sent together, and the end of the wait is scheduled.
    private var isGathering = false
    /// The time for which events wait to be sent together.
    private static let gatherTime = TimeAmount.milliseconds(20)
    /// The numbers of open streams of events by the IDs of their sessions.
    var streams: [String: Int] = [:]
    /// The last reports of the daemon, and the connection on which they come.
    var watch = DaemonWatch()
    /// The task that watches the daemon; nil while nobody needs it.
    var watching: Task<Void, Never>?
    /// The questions of clients that wait for a place on the watched connection.
    var askers: [CheckedContinuation<Void, Never>] = []
    /// The number of questions of clients on the watched connection.
    var askingCount = 0
    /// The value of ``now`` until which the daemon is watched because a client without a stream has read something.
    var leaseEnds = Duration.zero
    /// The answers to the last changes.
    var log = CommandLog<Reply>()
    /// The number of commands under way, without stops.
    var commandCount = 0
    /// The number of calls of ``look(_:_:outcome:)`` under way.
    var lookCount = 0
    /// The number of downloads under way.
    var downloadCount = 0
    /// The number of requests for captures under way.
    var captureCount = 0
    /// The trials under way, by the name of the device.
    var trials: [String: PumpctlRun] = [:]
    /// The peer that is being offered; nil for none.
    var peer: HostedPeer?
    /// The changes under way, by their numbers.
    var changes: [Int: Change] = [:]
    /// The number of the last change.
    var lastChange = 0
    /// The last stops that were requested.
    var stopLog = StopLog()
    /// The stops under way, by the name of the device.
    var stops: [String: StopQueue] = [:]
    /// Asks the daemon every two seconds whether it still answers; nil while nobody needs the daemon.
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
        // A task holds each connection from the beginning: NIO ends the program if a connection is dropped without
        // being closed. A stream of connections would drop some if its reader left.
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
        // A client of the previous server must not take that server's numbers for numbers of this one.
        ring = EventRing(startingAt: Int.random(in: 1...Int(UInt32.max)) << 20)
        // An empty event, so that the last number always belongs to an event that is kept.
        ring.append(at: Self.now, certainUntil: .zero) { _ in [] }
    }

    private static func listen(
        _ settings: PageSettings, on loop: any EventLoop, serve: @escaping @Sendable (Connection) -> Void
    ) async throws(PageError) -> any Channel {
        let limits = settings.limits
        let bootstrap = ServerBootstrap(group: loop).serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // One read in each turn of the loop: a client that sends much must not delay the others.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // The limits of a request's head in `docs/http.md`.
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
    /// three seconds to end.
    private func closeAll() async {
        if case .unix(let path) = settings.address { PageError.remove(path, node: node) }
        isEnding = true
        for trial in trials.values { trial.interrupt() }
        peer?.run.interrupt()
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

    /// Sets the function that is called when a client's connection ends; nil for none. If the connection has ended
    /// already, calls the function at once.
    func whenClosed(_ channel: any Channel, _ onEnd: (() -> Void)?) {
        guard channel.isActive else { return onEnd?() ?? () }
        clients[ObjectIdentifier(channel)]?.onEnd = onEnd
    }

    private func note(isBusy: Bool, _ channel: any Channel) { clients[ObjectIdentifier(channel)]?.isBusy = isBusy }

    /// Notes that a request with a valid token came.
    func noteToken(_ channel: any Channel) { clients[ObjectIdentifier(channel)]?.isKnown = true }

    private func remove(_ channel: any Channel) { clients[ObjectIdentifier(channel)] = nil }

    /// Makes room for a new connection if one of the limits is reached: closes the oldest connection that has sent no
    /// valid token; if there is none, the oldest without a request under way. Clients that only occupy connections must
    /// not keep others out.
    private func makeRoom() {
        let strangers = clients.values.filter { !$0.isKnown }
        let isFull = clients.count >= settings.limits.connections
        guard isFull || strangers.count >= settings.limits.strangers else { return }
        let candidates = strangers.isEmpty ? clients.values.filter { !$0.isBusy } : strangers
        guard let oldest = candidates.min(by: { $0.since < $1.since })?.channel else { return }
        remove(oldest)
        oldest.close(promise: nil)
    }

    // MARK: Events

    /// Publishes an event and returns its number.
    @discardableResult
    func publish(_ event: String, _ data: JSONValue) -> Int {
        let number = append { Array("id: \($0)\nevent: \(event)\ndata: \(data)\n\n".utf8) }
        wake()
        return number
    }

    /// Publishes a tick: a comment with the present time, which has a number like an event. A client that has read it
    /// has all events up to ``DaemonWatch/certainUntil``.
    func tick() {
        append { Array(": \($0) \(RecordTime.now.iso8601)\n\n".utf8) }
        wake()
    }

    @discardableResult
    private func append(_ bytes: (_ number: Int) -> [UInt8]) -> Int {
        ring.append(at: Self.now, certainUntil: watch.certainUntil, bytes)
    }

    /// Waits for the next ``wake()``, and resumes at once. For requests; streams use ``nextBatch()``.
    func nextEvent() async { await withCheckedContinuation { waiters.append($0) } }

    /// Waits until there may be more events for a stream. Events that come within a short time are sent together: to
    /// write to many streams takes much longer than to note an event.
    func nextBatch() async { await withCheckedContinuation { readers.append($0) } }

    /// Resumes the requests that wait for an event, and soon the streams.
    func wake() {
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
        guard !readers.isEmpty, !isGathering else { return }
        isGathering = true
        loop.scheduleTask(in: Self.gatherTime) { self.assumeIsolated { $0.wakeReaders() } }
    }

    /// Resumes the streams.
    func wakeReaders() {
        isGathering = false
        let woken = readers
        readers = []
        for reader in woken { reader.resume() }
    }

    /// Waits, even if the task is cancelled.
    func pause(milliseconds: Int64) async {
        try? await loop.scheduleTask(in: .milliseconds(milliseconds)) {}.futureResult.get()
    }

    /// Whether anybody needs the daemon's events: a stream, a stop under way, or a client that has just read something.
    var isWatched: Bool { !streams.isEmpty || !stops.isEmpty || Self.now < leaseEnds }
}
