public import DescriptorIO
public import DeviceKit
internal import LineProtocol
internal import Transports

/// A device that several programs share over one link. Lines that the device answers are sent one at a time, and the
/// reply goes to the client that sent the line.
///
/// ```swift
/// let device = SharedDevice(settings, row) { try await LinkSchemes.families.open($0) } tell: { print($0) }
/// let share = try await SocketShare.open(device, at: .tcp(host: "localhost", port: 4000))
/// await device.run()
/// ```
///
/// Clients of a share stay connected while the device is away, but their lines are not kept until it returns.
///
/// In this module, a client uses the device by the lines of its protocol, through a share or after `attach`. A program
/// sends requests to a ``SharingServer``, and names the device in each of them.
public actor SharedDevice {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The longest time in which a client may read nothing of a long reply, the longest wait for the last output to a
    /// client, and the time that a client above the client limit may stay.
    static let patience = Duration.seconds(10)
    /// The time after a client's OFF in which its queries go before the lines of other clients, except OFF. Some
    /// programs report a device as off only after a query, and do not wait long for the reply.
    static let stopTime = Duration.seconds(5)
    /// The number of clients above the client limit that are admitted for a short time, because one of these clients
    /// may want to send OFF.
    static let extraPlaces = 8
    /// The maximum length in bytes of a client's line.
    static let lineLimit = 1 << 16

    /// The device's name, endpoint, family and shares.
    public nonisolated let settings: SharedDeviceSettings
    /// The event loop on which the device and its clients run.
    public nonisolated let loop: EventLoop
    /// The sharing rules of the device's family.
    let row: SharedFamily
    let clock: any Clock<Duration>
    private let open: Reconnector.Opener
    let tell: @Sendable (SharingReport) -> Void
    let record: @Sendable (RecordingLink.Entry) -> Void

    /// The speaker of the open link; nil while there is no link.
    private(set) var speaker: (any Speaker)?
    /// The open link, which ``speaker`` owns.
    private(set) var link: (any Link)?
    /// Ends ``speak(over:)`` when it is finished.
    private var end: AsyncStream<Never>.Continuation?
    var clients: [ClientID: LineClient] = [:]
    var lastID: UInt64 = 0
    /// The number of users of the link, such as clients, programs with a subscription, and requests.
    private var userCount = 0
    /// Resumed when the first user arrives.
    private var userWaiter: CheckedContinuation<Void, Never>?
    private var idleTimer: Task<Void, Never>?
    /// The loss of the link while its speaker began; nil if there was none.
    private var earlyLoss: LinkError?
    /// Whether the link was lost, and no new link is in use yet.
    private var wasLost = false
    /// Whether the device ever gave a valid reply of its family, and the number of foreign replies before that.
    private var (hasAnswered, foreignCount) = (false, 0)
    /// Whether the link was lost or could not be opened in time, so that lines of clients need not wait for it. False
    /// again once a link is open, or a first user arrives.
    var isAway = false
    /// The number of stop lines that have arrived so far from any program.
    var stopCount: UInt64 = 0
    /// The subscriptions of programs, and the tasks that wait for the link.
    var watch: DeviceWatch

    /// Creates a shared device. Its link is opened by ``run()``.
    ///
    /// - Parameters:
    ///   - settings: The device's name, endpoint, family and shares.
    ///   - row: The sharing rules of the device's family.
    ///   - loop: The event loop on which the device and its clients run.
    ///   - clock: The clock of all time-outs; by default the loop's.
    ///   - open: Opens a link to the device.
    ///   - record: Receives the known values each time the device has reported some, and each change with its author.
    ///     Called only if ``SharedDeviceSettings/isRecorded`` is true; must not block.
    ///   - tell: Receives reports for a log; must not block.
    public init(
        _ settings: SharedDeviceSettings, _ row: SharedFamily, on loop: EventLoop = .shared,
        clock: (any Clock<Duration>)? = nil, open: @escaping Reconnector.Opener,
        record: @escaping @Sendable (RecordingLink.Entry) -> Void = { _ in },
        tell: @escaping @Sendable (SharingReport) -> Void = { _ in }
    ) {
        self.settings = settings
        self.row = row
        self.loop = loop
        self.clock = clock ?? EventLoopClock(loop)
        watch = DeviceWatch(by: self.clock)
        self.open = open
        self.record = record
        self.tell = tell
    }

    nonisolated func report(_ event: SharingReport.Event) { tell(SharingReport(device: settings.name, event)) }

    // MARK: The link

    /// Whether the link is open.
    public var isUp: Bool { speaker != nil }

    /// Opens the device's link whenever ``SharedDeviceSettings/holding`` requires it, also after a loss. Returns only
    /// when the task is cancelled, after closing the link; shares stay open.
    public func run() async {
        var reconnector: Reconnector?
        var failure: LinkError?
        while !Task.isCancelled {
            await somebodyIsThere()
            do {
                // After the first link, the reconnector makes sure that a link leads to the same device.
                let link =
                    if let reconnector { try await reconnector.link() } else { try await open(settings.endpoint) }
                failure = nil
                reconnector = reconnector ?? self.reconnector(link)
                try await speak(over: link)
            } catch is CancellationError {
                break
            } catch {
                // Report the same link error only once in a row: the device may be away for hours.
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

    /// Uses a link until the link is lost or has been idle long enough, or the task is cancelled. Then closes the link.
    private func speak(over link: any Link) async throws {
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        self.end = end
        let speaker: any Speaker
        let link = HeardLink(link, watch.heard)
        earlyLoss = nil
        do {
            speaker = try await row.begin(link, settings.endpoint, clock) { [unowned self] speech in
                assumeIsolated { $0.hear(speech) }
            }
        } catch {
            await link.close()
            throw error
        }
        if let earlyLoss {
            await speaker.close()
            throw earlyLoss
        }
        (self.speaker, self.link) = (speaker, link)
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
            // A link that is lost before it is in use counts as one that could not be opened.
            guard speaker != nil else { return earlyLoss = error }
            wasLost = true
            isAway = true
            report(.lost("\(error)"))
            if let notice = row.wording(.lost) { broadcast(notice) }
            end?.finish()
        }
    }

    /// Ends the use of the open link, because it was idle.
    private func endSpeech() { end?.finish() }

    /// Closes the link, if it is open, and disconnects the clients that are attached by the control socket.
    private func endSpeaking() async {
        idleTimer?.cancel()
        idleTimer = nil
        end = nil
        guard let speaker else { return }
        (self.speaker, self.link) = (nil, nil)
        linkIsLost()
        for client in clients.values where client.kind == .attached { await client.channel.close() }
        await speaker.close()
    }

    // MARK: Users of the link

    /// Adds a user of the link, for whom ``run()`` opens the link or keeps it open.
    func addUser() {
        if userCount == 0 { isAway = false }
        userCount += 1
        idleTimer?.cancel()
        idleTimer = nil
        userWaiter?.resume()
        userWaiter = nil
    }

    /// Removes a user of the link.
    func removeUser() {
        userCount -= 1
        letGoIfIdle()
    }

    /// Waits until the link is needed: at once if it is always held, otherwise until the first user arrives.
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

    /// Starts the idle time of an open link that has no users. The link is closed at its end unless a user arrives.
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

    /// Sends a line in its turn, and passes the reply to the asker.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - name: The client's name, for the log, for other programs and for the record.
    ///   - asker: The receiver of the reply.
    /// - Throws: `away` if there is no link; `session` with an error of ``Speaker/perform(_:for:)``.
    func perform(_ line: ClientLine, by name: String, for asker: Asker) async throws(SharingError) {
        guard let speaker else {
            report(.notSent(line.bytes, by: name, "the device is away"))
            throw .away
        }
        report(.sends(line.bytes, for: name))
        sends(line, for: name)
        let changes = watch.changeCount
        defer { stateMayHaveChanged() }
        do throws(SessionError) {
            try await speaker.perform(line, for: noting(asker, line, by: name))
            checkFamily(by: nil)
            // Of a link that is lost by now, nothing is known any more.
            if speaker === self.speaker { noteChange(line, by: name, since: changes, isDone: true) }
            recordChange(line, by: name, outcome: "done")
        } catch {
            checkFamily(by: error)
            recordChange(line, by: name, outcome: error.outcome.rawValue)
            if error.outcome == .unknown { noteChange(line, by: name, since: changes, isDone: false) }
            let failure = SharingError.session(error)
            switch error.code {
            case .refused: report(.refusedByDevice(line.bytes, for: name, error.deviceCode ?? ""))
            case _ where error.outcome == .notSent: report(.notSent(line.bytes, by: name, "\(error)"))
            default: report(.failed(line.bytes, for: name, "\(error)"))
            }
            throw failure
        }
    }

    /// Reports once that a device whose family was assumed seems to be of another family. No command is sent to find
    /// out: the foreign replies to lines are counted until the first valid one.
    ///
    /// - Parameter error: The error for a line; nil if the device gave a valid reply.
    func checkFamily(by error: SessionError?) {
        guard let error, error.code != .refused else { return hasAnswered = true }
        guard settings.isFamilyAssumed, !hasAnswered, error.code == .notUnderstood, let line = error.foreignLine else {
            return
        }
        // One line may be noise.
        foreignCount += 1
        if foreignCount == 2 { report(.notOfFamily(line)) }
    }

    /// Sends bytes to all clients.
    private func broadcast(_ bytes: [UInt8]) {
        for client in clients.values where !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }
}
