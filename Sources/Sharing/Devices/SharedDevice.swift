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

    /// How long a client may take nothing of an answer that it has asked for, or be there when as many are as may be.
    static let patience = Duration.seconds(10)
    /// How long behind a client's OFF its questions go before those of others: a program says that a device is off only once
    /// it has asked, and gives up before long.
    static let stopTime = Duration.seconds(5)
    /// How many clients may come for a short time when as many are there as may be: one of them may bring OFF.
    static let extraPlaces = 8
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
    var lastID: UInt64 = 0
    /// How many need the link, as by having the device open.
    private var userCount = 0
    /// Told when somebody comes to need the link.
    private var userWaiter: CheckedContinuation<Void, Never>?
    private var idleTimer: Task<Void, Never>?
    /// Whether clients were told that the device is away.
    private var wasLost = false
    /// Whether the device has ever answered as one of its family does, and how often it has said something else before.
    private var (hasAnswered, foreignCount) = (false, 0)
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
        case .said(let bytes, let tellsState):
            broadcast(bytes)
            said(bytes, tellsState: tellsState)
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
    ///   - name: Who asks, for the log.
    ///   - asker: Is told the answer.
    /// - Throws: Why there is none.
    func perform(_ line: ClientLine, by name: String, for asker: Asker) async throws(SharingError) {
        guard let speaker else {
            report(.notSent(line.bytes, by: name, "the device is away"))
            throw .away
        }
        report(.sends(line.bytes, for: name))
        sends(line, for: name)
        defer { stateMayHaveChanged() }
        do throws(SessionError) {
            try await speaker.perform(line, for: noting(asker))
            hasAnswered = true
        } catch {
            checkFamily(by: error)
            let failure = SharingError.session(error)
            switch error.code {
            case .refused: report(.refusedByDevice(line.bytes, for: name, error.deviceCode ?? ""))
            case _ where error.outcome == .notSent: report(.notSent(line.bytes, by: name, "\(error)"))
            default: report(.failed(line.bytes, for: name, "\(error)"))
            }
            throw failure
        }
    }

    /// Reports a device that has never answered as one of its family does, where that was assumed. It is asked nothing for it.
    private func checkFamily(by error: SessionError) {
        if error.code == .refused { hasAnswered = true }
        guard settings.isFamilyAssumed, !hasAnswered, error.code == .notUnderstood, let line = error.foreignLine else {
            return
        }
        // One line may be noise.
        foreignCount += 1
        if foreignCount == 2 { report(.notOfFamily(line)) }
    }

    /// Tells everybody.
    private func broadcast(_ bytes: [UInt8]) {
        for client in clients.values where !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }
}
