public import DescriptorIO
public import LineProtocol
public import Transports

/// Makes a device safe by every available way: over a link of its own, perhaps through the daemon that owns the device;
/// or, if another program holds the device as a ``HeldLink``, by a request to that program.
///
/// ```swift
/// try await SwitchingOff(.pump).run(at: Endpoint("/dev/ttyUSB0"))  // returns once the pump is off
/// ```
///
/// If another run of this program has the device for a short command, `run(at:)` waits for the end of that command. If
/// the link is lost before the device has answered, `run(at:)` reopens the link once and repeats OFF. If the device at
/// the new link can't be identified as the lost one, OFF is sent anyway, and the call fails.
public struct SwitchingOff: Sendable {
    /// An occurrence during the call.
    public enum Report: Sendable {
        /// Another program has the device, and the call waits until the device is free. The holder is nil if it can't
        /// be identified.
        case waiting(LinkHolder?)
        /// The link was lost before the device answered, and is being reopened. The error is nil if the cause of the
        /// loss is unknown.
        case openingAgain(LinkError?)
        /// A device was found that is not accepted as the lost one, for this reason.
        case doubtful(LinkError)
        /// The device at the endpoint has confirmed that it is off, but may be another device. The state of the lost
        /// device is unknown.
        case unverified
        /// The link can't be reopened.
        case notOpened(LinkError)
        /// The program that has the device has switched the device off. The holder is nil if it can't be identified.
        case doneByOther(LinkHolder?)
    }

    /// Makes the device at a link safe within `timeout`, and closes the link. Throws if the device has not confirmed in
    /// time that it is safe.
    public typealias Stop = @Sendable (_ link: any Link, _ timeout: Duration) async throws -> Void

    /// The pause between attempts to open a device that another program has. Most runs of this program end within
    /// milliseconds.
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

    /// Creates a value that can switch off devices of a family. Nothing is opened before ``run(at:)``.
    ///
    /// - Parameters:
    ///   - family: The family of the device.
    ///   - timeout: The longest wait for a device that another run of this program or an unknown program has, or that a
    ///     daemon is still opening; then for the device's answer; and for the device's return if the link is lost
    ///     before the answer. A board that may be starting gets at least `Session.startTime` to answer.
    ///   - wait: The longest wait for a device that any other program has, if the program accepts no requests for OFF.
    ///   - loop: The event loop for all connections.
    ///   - clock: The clock for all time-outs; nil for the clock of the loop.
    ///   - open: Opens a link to the device.
    ///   - stop: Makes the device safe; nil for the family's ``WireRules/stop``.
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

    /// Switches the device at `endpoint` off. Returns once the device has confirmed that it is off (an acknowledgement
    /// of OFF is not enough), or the program that holds the device has reported this confirmation.
    ///
    /// - Throws: `SessionError` if the device has not confirmed that it is off. `LinkError` if it can't be opened.
    ///   ``OffByOtherError`` if the holder of the device was asked, and failed or did not answer in time. `OffFailure`
    ///   if the family has no command that makes a device safe. The errors of `open` and `stop`. `CancellationError` if
    ///   the task is cancelled during the wait for a device that another program has.
    public func run(at endpoint: Endpoint) async throws {
        // Connect even if a phone or another program listens to the device: OFF must get through.
        let isAlone = endpoint.scheme == "ble" && endpoint.options["shared"] == nil
        let endpoint = isAlone ? endpoint.adding("shared", "true") : endpoint
        guard let opened = try await open(endpoint, since: watch.elapsed()) else { return }
        let reconnector = Reconnector(
            endpoint, opened, looksNow: false, on: loop, clock: clock, open: open,
            doubt: { [tell] in tell(.doubtful($0)) })
        // Looking up the identity of the device takes time, so OFF is sent first.
        let link = ReportingLink(
            opened, clock: clock, lookAround: { _ in reconnector.look() }, looksAfterSending: true
        ) { _ in }
        // Opening may have used up the whole time-out, so the exchange has a time limit of its own.
        let deadline = watch.elapsed() + time(over: link)
        do {
            try await switchOff(link)
        } catch let error as SessionError where error.code == .linkLost && watch.elapsed() < deadline {
            tell(.openingAgain(error.link))
            // The device gets at least a whole time-out to return.
            let deadline = max(deadline, watch.elapsed() + timeout)
            guard let again = await open(again: reconnector, by: deadline) else { throw error }
            try await switchOff(again)
            guard reconnector.isDeviceUnknown else { return }
            tell(.unverified)
            throw error
        }
    }

    /// Returns the longest wait until the device at `link` has confirmed that it is off.
    private func time(over link: any Link) -> Duration {
        link.mayHaveReset ? max(timeout, PumpSession.startTime) : timeout
    }

    /// Makes the device at `link` safe, and closes the link.
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

    /// Reopens a lost link before the deadline. Returns nil if that fails.
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

    /// Opens the link. Returns nil if the program that holds the device has switched it off.
    private func open(_ endpoint: Endpoint, since begin: Duration) async throws -> (any Link)? {
        var isTold = false
        while true {
            do {
                // No deadline here: a late OFF is better than none, and it needs an open link.
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
                // A holder that can't be identified has probably just opened or closed the device.
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

    /// Returns the longest wait for the holder's answer. The holder may have to wait for a board that is starting, and
    /// may extend its own wait by `stopExtension`; a second more is a margin. A stopped holder can't answer.
    private func answerTime(of holder: LinkHolder?) -> Duration {
        holder?.process.isStopped == true
            ? .seconds(1) : max(timeout, PumpSession.startTime) + PumpSession.stopExtension + .seconds(1)
    }
}

/// The error if the program that holds a device was asked to switch the device off, and failed.
public struct OffByOtherError: Error, Sendable {
    /// The failure that the holder reported, or a failure with an unknown outcome if the holder did not answer in time.
    public var failure: OffFailure
    /// The holder; nil if it can't be identified.
    public var holder: LinkHolder?
    /// Whether the holder is stopped, as by Ctrl-Z, so that it can't answer.
    public var isHolderStopped: Bool

    init(_ failure: OffFailure, _ holder: LinkHolder?) {
        self.failure = failure
        self.holder = holder
        isHolderStopped = holder?.process.isStopped ?? false
    }
}
