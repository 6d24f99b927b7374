public import DescriptorIO
public import DeviceKit
internal import LineProtocol
internal import Transports

/// A device that several programs share: it has one link, over which their lines go one at a time.
///
/// ```swift
/// let device = SharedDevice(settings, row) { try await LinkSchemes.families.open($0) } tell: { print($0) }
/// let share = try await SocketShare.open(device, at: .tcp(host: "localhost", port: 4000))
/// try await device.run()
/// ```
///
/// A client survives the device's unplugging. A line for a device that is away is refused at once, and none is kept for later.
public actor SharedDevice {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// How long a client may take nothing of an answer that it has asked for.
    static let patience = Duration.seconds(10)
    /// The longest line in bytes that a client may send.
    static let lineLimit = 1 << 16

    /// What the device is, and where.
    public nonisolated let settings: SharedDeviceSettings
    /// What all of it runs on.
    public nonisolated let loop: EventLoop
    let row: SharedFamily
    let clock: any Clock<Duration>
    private let open: Reconnector.Opener
    let tell: @Sendable (SharingReport) -> Void

    /// Speaks with the device while it is there.
    private(set) var speaker: (any Speaker)?
    /// Ends speaking with the device.
    private var end: AsyncStream<Never>.Continuation?
    var clients: [ClientID: LineClient] = [:]
    private var lastID: UInt64 = 0
    /// How many need the link, as by having the device open.
    private var userCount = 0
    /// Told when somebody comes to need the link.
    private var userWaiter: CheckedContinuation<Void, Never>?
    private var idleTimer: Task<Void, Never>?
    /// Whether clients were told that the device is away.
    private var wasLost = false
    /// Whether the link was lost, or could not be opened, since somebody came to need it.
    var isAway = false
    /// How many lines that make the device safe have come.
    var stopCount: UInt64 = 0
    /// What programs are told that have it by its name.
    var watch: DeviceWatch

    /// A device that is not yet looked for.
    ///
    /// - Parameters:
    ///   - row: What is known of its family.
    ///   - loop: What all of it runs on.
    ///   - clock: Measures all times; the loop's unless a test has another.
    ///   - open: Opens a link to it.
    ///   - tell: Told what happens; must not block.
    public init(
        _ settings: SharedDeviceSettings, _ row: SharedFamily, on loop: EventLoop = .shared,
        clock: (any Clock<Duration>)? = nil, open: @escaping Reconnector.Opener,
        tell: @escaping @Sendable (SharingReport) -> Void = { _ in }
    ) {
        self.settings = settings
        self.row = row
        self.loop = loop
        self.clock = clock ?? EventLoopClock(loop)
        watch = DeviceWatch(by: self.clock)
        self.open = open
        self.tell = tell
    }

    nonisolated func report(_ event: SharingReport.Event) { tell(SharingReport(device: settings.name, event)) }

    // MARK: The link

    /// Whether the device is there.
    public var isUp: Bool { speaker != nil }

    /// Has the device until the task is cancelled: opens its link, and opens it again when it was lost.
    public func run() async {
        var reconnector: Reconnector?
        var failure: LinkError?
        while !Task.isCancelled {
            await somebodyIsThere()
            do {
                let link =
                    if let reconnector { try await reconnector.link() } else { try await open(settings.endpoint) }
                failure = nil
                reconnector = reconnector ?? self.reconnector(link)
                try await speak(over: link)
            } catch is CancellationError {
                break
            } catch {
                // Each of them once: the device may be away for hours.
                let linkError = error as? LinkError ?? (error as? SessionError)?.link
                if linkError == nil || linkError != failure { report(.notOpened("\(error)", linkError?.hint)) }
                failure = linkError
                linkIsNotOpened()
                try? await clock.sleep(for: Reconnector.interval)
            }
        }
        await endSpeaking()
    }

    private func reconnector(_ link: any Link) -> Reconnector {
        Reconnector(settings.endpoint, link, on: loop, clock: clock, open: open) { [self] error in
            report(.doubtful("\(error)"))
        }
    }

    /// Speaks with the device until its link is lost, or nobody needs it any more.
    private func speak(over link: any Link) async throws {
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        self.end = end
        let speaker: any Speaker
        do {
            speaker = try await row.begin(link, settings.endpoint, clock) { [unowned self] speech in
                assumeIsolated { $0.hear(speech) }
            }
        } catch {
            await link.close()
            throw error
        }
        self.speaker = speaker
        report(.up(link.name))
        linkIsUp(link.deviceID)
        if wasLost, let notice = row.wording(.back) { broadcast(notice) }
        wasLost = false
        letGoIfIdle()
        for await _ in ending {}
        await endSpeaking()
    }

    private func hear(_ speech: Speech) {
        switch speech {
        case .said(let bytes):
            broadcast(bytes)
            said(bytes)
        case .lost(let error):
            wasLost = true
            isAway = true
            report(.lost("\(error)"))
            if let notice = row.wording(.lost) { broadcast(notice) }
            end?.finish()
        }
    }

    private func endSpeech() { end?.finish() }

    private func endSpeaking() async {
        idleTimer?.cancel()
        idleTimer = nil
        end = nil
        guard let speaker else { return }
        self.speaker = nil
        linkIsLost()
        for client in clients.values where client.kind == .attached { await client.channel.close() }
        await speaker.close()
    }

    // MARK: Who needs it

    /// Somebody needs the link from now on.
    func addUser() {
        if userCount == 0 { isAway = false }
        userCount += 1
        idleTimer?.cancel()
        idleTimer = nil
        userWaiter?.resume()
        userWaiter = nil
    }

    /// Somebody needs the link no more.
    func removeUser() {
        userCount -= 1
        letGoIfIdle()
    }

    private func somebodyIsThere() async {
        guard settings.holding != .always, userCount == 0 else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { continuation.resume() } else { userWaiter = continuation }
            }
        } onCancel: {
            Task(executorPreference: loop) { await self.endWait() }
        }
    }

    private func endWait() {
        userWaiter?.resume()
        userWaiter = nil
    }

    private func letGoIfIdle() {
        guard case .whileUsed(let idle) = settings.holding, userCount == 0, speaker != nil, idleTimer == nil else {
            return
        }
        idleTimer = Task(executorPreference: loop) { [self, clock] in
            guard (try? await clock.sleep(for: idle)) != nil else { return }
            report(.idle)
            await endSpeech()
        }
    }

    // MARK: Lines

    /// Sends a line in its turn.
    ///
    /// - Parameters:
    ///   - asker: Who asks, for the log.
    ///   - name: Who asks, for the log.
    ///   - asker: Is told the answer.
    /// - Throws: Why there is none.
    func perform(_ line: [UInt8], by name: String, for asker: Asker) async throws(SharingError) {
        guard let speaker else {
            report(.notSent(line, by: name, "the device is away"))
            throw .away
        }
        report(.sends(line, for: name))
        sends(line, for: name)
        defer { stateMayHaveChanged() }
        do throws(SessionError) { try await speaker.perform(line, for: noting(asker)) } catch {
            let failure = SharingError.session(error)
            switch error.code {
            case .refused: report(.refusedByDevice(line, for: name, error.deviceCode ?? ""))
            case _ where failure.notice != nil: report(.notSent(line, by: name, "\(error)"))
            default: report(.failed(line, for: name, "\(error)"))
            }
            throw failure
        }
    }

    /// Tells everybody.
    private func broadcast(_ bytes: [UInt8]) {
        for client in clients.values where !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }

    // MARK: Clients

    /// Joins a client to the device, which has it by its lines until it leaves.
    ///
    /// - Parameters:
    ///   - name: What the log calls it.
    ///   - onEnd: Called once its connection is closed.
    func join(
        _ channel: DescriptorChannel, _ name: String, _ kind: LineClient.Kind,
        onEnd: (@Sendable () -> Void)? = nil
    ) async -> ClientID {
        let client = enroll(channel, name, kind)
        client.onEnd = onEnd
        await channel.forward { [id = client.id] arrival in
            self.assumeIsolated { device in
                if case .success(let bytes?) = arrival { return device.hear(bytes, id) }
                device.endInput(of: id)
            }
        }
        return client.id
    }

    /// Takes a client whose bytes somebody else reads, and hands to ``hear(_:_:)`` and ``endInput(of:)``.
    func enroll(_ channel: DescriptorChannel, _ name: String, _ kind: LineClient.Kind) -> LineClient {
        lastID += 1
        let framer = ClientFramer(row.framing, lineLimit: Self.lineLimit)
        let client = LineClient(ClientID(number: lastID), name, kind, channel, framer)
        clients[client.id] = client
        if client.isListening { come(client) }
        return client
    }

    /// A client says nothing more. One that has only ended its own direction still gets the answers to what it has asked.
    func endInput(of id: ClientID) {
        guard let client = clients[id] else { return }
        client.hasEnded = true
        if client.isOwedAnswer, client.channel.assumeIsolated({ $0.isOpen }) { return }
        hangUp(client)
    }

    /// Closes a client's connection once it has taken the answers that wait for it.
    private func hangUp(_ client: LineClient) {
        guard clients.removeValue(forKey: client.id) != nil else { return }
        if client.isListening {
            report(.left(client.name))
            removeUser()
        }
        Task(executorPreference: loop) { [loop, clock] in
            let timer = Task(executorPreference: loop) {
                if (try? await clock.sleep(for: Self.patience)) != nil { await client.channel.close() }
            }
            await client.finish()
            timer.cancel()
            await client.close()
        }
    }

    private func come(_ client: LineClient) {
        addUser()
        report(.came(client.name))
    }

    /// A client of a pseudo-terminal has it open, or has it no more.
    func setListening(_ isListening: Bool, _ id: ClientID) {
        guard let client = clients[id], client.isListening != isListening else { return }
        if isListening {
            client.isListening = true
            come(client)
        } else {
            fallSilent(client)
        }
    }

    private func fallSilent(_ client: LineClient) {
        guard client.isListening else { return }
        client.fallSilent()
        client.forgetLines()
        report(.left(client.name))
        removeUser()
    }

    private func leave(_ id: ClientID) {
        guard let client = clients.removeValue(forKey: id) else { return }
        fallSilent(client)
    }

    private func drop(_ client: LineClient, for offence: LineClient.Offence) {
        report(.dropped(client.name, offence.rawValue))
        client.forgetLines()
        guard client.kind != .terminal else { return }
        leave(client.id)
        Task(executorPreference: loop) { await client.close() }
    }

    func hear(_ bytes: [UInt8], _ id: ClientID) {
        guard let client = clients[id] else { return }
        // Whoever speaks has the device open.
        setListening(true, id)
        var lines: [[UInt8]] = []
        for frame in client.append(bytes) {
            switch frame {
            case .whole(let line): lines.append(line)
            case .malformed(let bytes, let reason): report(.failed(bytes, for: client.name, reason))
            case .tooLong: return drop(client, for: .longLine)
            }
        }
        take(lines, client)
    }

    private func take(_ lines: [[UInt8]], _ client: LineClient) {
        var lines = lines[...]
        if let stop = lines.lastIndex(where: row.isStop) {
            // What it asked for before must not undo it; what only asks, as whether the device is safe now, waits behind it.
            for line in client.takeLines(where: row.mayChange) + lines[..<stop].filter(row.mayChange) {
                report(.notSent(line, by: client.name, "OFF goes before it"))
                tell(client, .overtaken)
            }
            for line in lines[...stop] where row.isStop(line) {
                stopCount += 1
                client.stopCount += 1
                Task.immediate(executorPreference: loop) { await self.stop(line, for: client) }
            }
            lines = (lines[..<stop].filter { !row.isStop($0) && !row.mayChange($0) } + lines[(stop + 1)...])[...]
        }
        for line in lines where !client.enqueue(LineClient.WaitingLine(bytes: line, stopsBefore: stopCount)) {
            return drop(client, for: .flood)
        }
        if !lines.isEmpty, !client.isServed {
            client.isServed = true
            Task.immediate(executorPreference: loop) { await self.serve(client) }
        }
    }

    private func serve(_ client: LineClient) async {
        while let line = client.nextLine() { await perform(line, for: client) }
        client.isServed = false
        if client.hasEnded, !client.isOwedAnswer { hangUp(client) }
    }

    /// Sends a line that makes the device safe, for a client that may have left by the time that the link is open.
    private func stop(_ line: [UInt8], for client: LineClient) async {
        addUser()
        defer { removeUser() }
        await perform(LineClient.WaitingLine(bytes: line, stopsBefore: stopCount), for: client)
        client.stopCount -= 1
        if client.hasEnded, !client.isOwedAnswer { hangUp(client) }
    }

    private func perform(_ line: LineClient.WaitingLine, for client: LineClient) async {
        let visit = client.visit
        do throws(SharingError) {
            guard try await isDue(line, of: client, visit) else { return }
            try await perform(line.bytes, by: client.name, for: asker(client, visit))
        } catch {
            guard isThere(client, visit) else { return }
            if let notice = error.notice { tell(client, notice) }
            if row.endsAnswersBySilence, error.breaksOffAnswer { drop(client, for: .brokenOff) }
        }
    }

    /// Waits for a link that is just being opened; whether the line is still to be sent then: one that makes the device safe is,
    /// others only if their client is still there.
    ///
    /// - Throws: ``SharingError`` where the line must not undo what has come behind it.
    private func isDue(
        _ line: LineClient.WaitingLine, of client: LineClient, _ visit: UInt64
    ) async throws(SharingError) -> Bool {
        if !isUp { await waitForLink(isPatient: false) }
        if row.isStop(line.bytes) { return true }
        guard isThere(client, visit) else { return false }
        try checkTurn(line, by: client.name)
        return true
    }

    /// - Throws: ``SharingError`` where the device was made safe, by anybody, since a line came that would change it.
    func checkTurn(_ line: LineClient.WaitingLine, by name: String) throws(SharingError) {
        guard stopCount != line.stopsBefore, row.mayChange(line.bytes) else { return }
        throw overtaken(line.bytes, by: name)
    }

    /// Reports that OFF goes before a line, which is not sent.
    func overtaken(_ line: [UInt8], by name: String) -> SharingError {
        report(.notSent(line, by: name, "OFF goes before it"))
        let text = String(decoding: line, as: UTF8.self)
        return .session(SessionError(.overtaken, command: text, outcome: .notSent))
    }

    private func asker(_ client: LineClient, _ visit: UInt64) -> Asker {
        Asker { [self] bytes in
            assumeIsolated { $0.answer(bytes, to: client, visit) }
        } waitForRoom: { [self] in
            await waitForRoom(client, visit)
        } isThere: { [self] in
            assumeIsolated { $0.isThere(client, visit) }
        }
    }

    /// Whether a client has not left since.
    private func isThere(_ client: LineClient, _ visit: UInt64) -> Bool {
        clients[client.id] != nil && client.visit == visit && client.channel.assumeIsolated { $0.isOpen }
    }

    private func answer(_ bytes: [UInt8], to client: LineClient, _ visit: UInt64) {
        if isThere(client, visit), !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }

    private func waitForRoom(_ client: LineClient, _ visit: UInt64) async {
        if await !client.hasRoom(within: Self.patience, by: clock), isThere(client, visit) {
            drop(client, for: .stalled)
        }
    }

    private func tell(_ client: LineClient, _ notice: SharedFamily.Notice) {
        guard let bytes = row.wording(notice) else { return }
        if !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }
}
