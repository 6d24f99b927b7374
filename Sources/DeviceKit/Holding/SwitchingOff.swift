public import DescriptorIO
public import LineProtocol
public import Transports

/// Makes a device safe by whatever way there is: over a link of this program's own, which a daemon that has the device may
/// carry; or, where another program has the device as a ``HeldLink``, by asking that program.
///
/// ```swift
/// try await SwitchingOff(.pump).run(at: Endpoint("/dev/ttyUSB0"))  // returns once the pump was read to be off
/// ```
///
/// A device that another run of this program is done with in no time is waited for. Where the link is lost before the device
/// has answered, it is opened again once; what comes then is sent it too where nothing tells it from the device, and that
/// counts as a failure.
public struct SwitchingOff: Sendable {
    /// What it tells of while it goes on.
    public enum Report: Sendable {
        /// Another program has the device, and its end is waited for; the program is nil where it can't be named.
        case waiting(LinkHolder?)
        /// The link was lost before the device had answered, and is opened again.
        case openingAgain(LinkError?)
        /// What is there now is not taken for the device, for this reason.
        case doubtful(LinkError)
        /// What came to the endpoint has acknowledged it, and may be another device: that one's state is unknown.
        case unverified
        /// It can't be opened again.
        case notOpened(LinkError)
        /// This program has the device, and has switched it off.
        case doneByOther(LinkHolder?)
    }

    /// Makes the device at a link safe within a time, and closes the link.
    public typealias Stop = @Sendable (_ link: any Link, _ timeout: Duration) async throws -> Void

    /// How often a device is tried that another run of this program has, which does not listen for OFF: most are done in no
    /// time.
    private static let retryInterval = Duration.milliseconds(50)

    private let family: Family
    private let timeout: Duration
    private let wait: Duration
    private let loop: EventLoop
    private let open: Reconnector.Opener
    private let stop: Stop?
    private let tell: @Sendable (Report) -> Void
    private let clock: any Clock<Duration>
    private let watch: SessionClock

    /// Switching off that has not begun.
    ///
    /// - Parameters:
    ///   - family: What the device is.
    ///   - timeout: How long a busy device is waited for, then its answer, and the device itself where the link is lost
    ///     before the answer. A board that may be starting is given ``LineProtocol/Session/startTime`` at least to answer.
    ///   - wait: How long a device is waited for that a program has which neither ends soon nor sends OFF.
    ///   - loop: What it runs on.
    ///   - clock: Measures the time; the loop's unless a test has another.
    ///   - open: Opens a link to the device.
    ///   - stop: Makes the device safe; the family's ``WireRules/stop`` where it is nil.
    ///   - tell: Called with each report; must not block.
    public init(
        _ family: Family, timeout: Duration = PumpSession.defaultTimeout, wait: Duration = .zero,
        on loop: EventLoop = .shared, clock: (any Clock<Duration>)? = nil,
        open: @escaping Reconnector.Opener = { try await LinkSchemes.families.open($0) }, stop: Stop? = nil,
        tell: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.family = family
        self.timeout = timeout
        self.wait = wait
        self.loop = loop
        let clock = clock ?? EventLoopClock(loop)
        self.clock = clock
        watch = SessionClock(clock)
        self.open = open
        self.stop = stop
        self.tell = tell
    }

    /// Switches the device at `endpoint` off.
    ///
    /// - Throws: `SessionError`: the device has not acknowledged it. `LinkError`: it can't be had. ``OffByOtherError``: nor did
    ///   the program that has it succeed. `OffFailure`: the family has no such command. What `open` and `stop` throw.
    public func run(at endpoint: Endpoint) async throws {
        // That a phone or another program listens as well must not keep it from the device.
        let isAlone = endpoint.scheme == "ble" && endpoint.options["shared"] == nil
        let endpoint = isAlone ? endpoint.adding("shared", "true") : endpoint
        guard let opened = try await open(endpoint, since: watch.elapsed()) else { return }
        let reconnector = Reconnector(
            endpoint, opened, looksNow: false, on: loop, clock: clock, open: open,
            doubt: { [tell] in tell(.doubtful($0)) })
        // To look for what tells the device from others takes time: OFF goes first.
        let link = ReportingLink(
            opened, clock: clock, lookAround: { _ in reconnector.look() }, looksAfterSending: true
        ) { _ in }
        // Opening it may have taken longer than all the time there was: what is done over the link has time of its own.
        let deadline = watch.elapsed() + time(over: link)
        do {
            try await switchOff(link)
        } catch let error as SessionError where error.code == .linkLost && watch.elapsed() < deadline {
            tell(.openingAgain(error.link))
            // It may be back at once, or after as long as it took before.
            let deadline = max(deadline, watch.elapsed() + timeout)
            guard let again = await open(again: reconnector, by: deadline) else { throw error }
            try await switchOff(again)
            guard reconnector.isDeviceUnknown else { return }
            tell(.unverified)
            throw error
        }
    }

    /// How long the device at `link` is given to acknowledge it.
    private func time(over link: any Link) -> Duration {
        link.mayHaveReset ? max(timeout, PumpSession.startTime) : timeout
    }

    private func switchOff(_ link: any Link) async throws {
        let time = time(over: link)
        if let stop { return try await stop(link, time) }
        let result: Result<Void, any Error>
        do {
            guard let rule = family.wire.stop else { throw OffFailure(OffProblem(.noStop, family, at: link.name)) }
            result = .success(try await rule(link, time, clock))
        } catch {
            result = .failure(error)
        }
        await link.close()
        try result.get()
    }

    /// Opens a link that was lost, if that can be done in time.
    private func open(again reconnector: Reconnector, by deadline: Duration) async -> (any Link)? {
        let opening = Task(executorPreference: loop) { try await reconnector.unverifiedLink() }
        let timer = Task(executorPreference: loop) { [watch] in
            if (try? await watch.sleep(deadline)) != nil { opening.cancel() }
        }
        defer { timer.cancel() }
        do { return try await opening.value } catch {
            if let error = error as? LinkError { tell(.notOpened(error)) }
            return nil
        }
    }

    /// Opens the link; nil where another program has the device and has switched it off.
    private func open(_ endpoint: Endpoint, since begin: Duration) async throws -> (any Link)? {
        var isTold = false
        while true {
            do {
                // Better late than never: what has not been opened can't be switched off.
                return try await open(endpoint)
            } catch var error as LinkError where error.code == .busy || error.isNotReadyAtDaemon {
                let waited = watch.elapsed() - begin
                let holder = error.holder
                if let deviceID = error.deviceID,
                    let answer = await OffRequest.send(for: deviceID, within: answerTime(of: holder), on: loop)
                {
                    if case .failed(let failure) = answer { throw OffByOtherError(failure, holder) }
                    tell(.doneByOther(holder))
                    return nil
                }
                // One that can't be named has just come or gone.
                let isShort = error.isNotReadyAtDaemon || holder?.isThisProgram ?? true
                guard waited < (isShort ? max(timeout, wait) : wait) else {
                    if holder?.isAnotherRun == true { error.remedy = .waitForHolder }
                    throw error
                }
                if !isTold, waited >= LinkOpening.shortWait {
                    tell(.waiting(holder))
                    isTold = true
                }
                try await clock.sleep(for: Self.retryInterval)
            }
        }
    }

    /// How long the other program's answer is waited for: it may have to wait for a board that starts.
    private func answerTime(of holder: LinkHolder?) -> Duration {
        holder?.process.isStopped == true
            ? .seconds(1) : max(timeout, PumpSession.startTime) + PumpSession.stopExtension + .seconds(1)
    }
}

/// Why the program that has a device did not switch it off.
public struct OffByOtherError: Error, Sendable {
    /// What went wrong, as that program has told, or as it was silent.
    public var failure: OffFailure
    /// The program; nil where it can't be named.
    public var holder: LinkHolder?
    /// Whether the program was stopped, as by Ctrl-Z, so that it can't answer.
    public var isHolderStopped: Bool

    init(_ failure: OffFailure, _ holder: LinkHolder?) {
        self.failure = failure
        self.holder = holder
        isHolderStopped = holder?.process.isStopped ?? false
    }
}
