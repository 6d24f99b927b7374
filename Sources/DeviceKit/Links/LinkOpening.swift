public import DescriptorIO
public import LineProtocol
public import SerialPort
public import Transports

/// How a program opens its links. Each tells what comes to light about it; where that is asked for, what goes over it is
/// shown or recorded; and one for ``LinkUse/watching`` is held, so that other programs can have the device switched off.
/// A device that a daemon, pumpctld, has is reached through it.
///
/// ```swift
/// var opening = LinkOpening(of: .pump) { name, report in print(name, report) }
/// opening.isTraced = true
/// let link = try await opening.link(to: Endpoint("ble:HMSoft"), for: .watching)
/// ```
public struct LinkOpening: Sendable {
    /// What comes to light.
    public enum Report: Sendable {
        /// Opening a BLE device is at this step; nil once it is over, where ``LinkOpening/patience`` delayed the steps.
        case step(BLEOpeningStep?)
        /// Another program has the device, and its end is waited for; the program is nil where it can't be named.
        case waiting(LinkHolder?)
        /// A daemon has the device, and passes on what goes over the link.
        case throughDaemon(SharedDeviceAddress)
        /// A link is open of which all is shown.
        case opened
        /// Something goes over a link of which all is shown.
        case traffic(TracedLink.Entry)
        /// Something about the link, or the board at its other end.
        case discovery(ReportingLink.Discovery)
        /// Other programs use the serial port too.
        case sharedPort(PortUse)
        /// Something about OFF for other programs.
        case held(HeldLink.Report)
        /// Something is wrong with the record.
        case recording(SharedRecording.Report)
    }

    /// What opens links, by the scheme of the endpoint; BLE devices are opened as the other properties say.
    public var schemes = LinkSchemes.standardAndShared
    /// What keeps to which BLE device a name led; nil to keep nothing. Called for a BLE device only.
    public var memory: @Sendable () -> BLEMemoryFile? = { nil }
    /// The most time that opening a BLE device may take; nil for as long as each of its steps may take.
    public var limit: Duration?
    /// Whether a BLE device that is connected and not of use yet is connected to again until the time is over.
    public var isPersistent = false
    /// How long after the first step of opening a BLE device none is told; nil to tell each as it begins.
    public var patience: Duration?
    /// How long a device is waited for that another program has; for a daemon's answer at least 5 s.
    public var wait = Duration.zero
    /// How long a device is waited for that a short command of this user has: another run of this program that neither
    /// watches the device nor was stopped. ``wait`` counts where it is longer.
    public var commandWait = Duration.zero
    /// Whether what goes over the links is told.
    public var isTraced = false
    /// Whether the boards may be ones whose boot ROM says on the link that they have restarted: ESP32.
    public var looksForRestarts = true
    /// Where to record what goes over the links; nil for nowhere.
    public var recording: SharedRecording?
    /// Where all that goes over the links is noted, to be played back; nil for nowhere.
    public var capture: Capture?
    /// Words for a program that has asked for OFF why the device is not known to be off.
    public var explain: @Sendable (OffProblem) -> OffFailure = { OffFailure($0) }

    /// Where daemons may listen; looked for only where one is needed.
    package var daemonSockets: DaemonSocket.Search = { DaemonSocket.present }
    /// Whether the programs of other users are seen too: then one that has a port and can't be named has ended. Nil to ask
    /// the system, where that counts.
    package var seesAllPrograms: Bool?
    /// Measures ``wait`` and ``commandWait``.
    package var clock: any Clock<Duration>

    private let family: Family
    private let loop: EventLoop
    private let tell: @Sendable (_ name: String, Report) -> Void

    /// Opens links to devices of a family.
    ///
    /// - Parameters:
    ///   - loop: What the links run on.
    ///   - tell: Told what comes to light, with the name of the link, or of the endpoint until there is one; must not block.
    public init(
        of family: Family, on loop: EventLoop = .shared,
        tell: @escaping @Sendable (_ name: String, Report) -> Void = { _, _ in }
    ) {
        self.family = family
        self.loop = loop
        self.tell = tell
        clock = EventLoopClock(loop)
    }

    /// Opens a link.
    ///
    /// - Parameters:
    ///   - use: What the program has it for.
    ///   - onStop: Called when another program asks for OFF, before it is sent.
    public func link(
        to endpoint: Endpoint, for use: LinkUse = .transfer, onStop: (@Sendable () -> Void)? = nil
    ) async throws(LinkError) -> any Link {
        let link = try await whenFree(endpoint) { () async throws(LinkError) in try await opened(endpoint, for: use) }
        if let remark = link.openingNote { tell(endpoint.text, .discovery(.remark(remark))) }
        return await wrapped(link, to: endpoint, for: use, onStop: onStop)
    }

    private func opened(_ endpoint: Endpoint, for use: LinkUse) async throws(LinkError) -> any Link {
        if let address = endpoint.sharedAddress, let link = try await link(at: address, of: endpoint) { return link }
        do { return try await link(toDeviceAt: endpoint, for: use) } catch {
            guard error.code == .busy else { throw error }
            return try await linkThroughDaemon(to: endpoint, after: error)
        }
    }

    private func link(toDeviceAt endpoint: Endpoint, for use: LinkUse) async throws(LinkError) -> any Link {
        var schemes = schemes
        let watch = watch(over: endpoint)
        defer { watch?.end() }
        switch endpoint.scheme {
        case "ble": schemes.add("ble", BLEEndpoint.opener(bleUse(of: endpoint, for: use, watch)))
        case SharedEndpoint.scheme:
            schemes.add(SharedEndpoint.scheme, SharedEndpoint.opener(for: family, within: limit, at: daemonSockets))
        default: break
        }
        return try await schemes.open(endpoint, on: loop)
    }

    /// Opens a BLE device, of whatever kind it is, whose characteristics are used one by one. Of ``Report`` only the steps are
    /// told.
    ///
    /// - Parameter use: What the program has it for.
    public func device(at endpoint: Endpoint, for use: LinkUse = .transfer) async throws(LinkError) -> BLEDevice {
        try await whenFree(endpoint) { () async throws(LinkError) in
            let watch = watch(over: endpoint)
            defer { watch?.end() }
            return try await BLEDevice.open(endpoint, on: loop, as: bleUse(of: endpoint, for: use, watch))
        }
    }

    // MARK: Waiting

    /// The first pause between two attempts at a device that another program has. Each is twice as long as the one before,
    /// up to the longest: to find out who has a port takes milliseconds, and many may wait.
    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.milliseconds(400)
    /// How long a wait lasts before it is told, and how long a program that can't be named may just have come or gone.
    static let shortWait = Duration.seconds(1)
    /// How often such a program is looked for at least: on a busy machine each look takes long.
    private static let leastLooks = 6

    /// Opens a device, once whoever has it has left it, for which it waits as long as it may.
    private func whenFree<Opened: Sendable>(
        _ endpoint: Endpoint, _ open: () async throws(LinkError) -> Opened
    ) async throws(LinkError) -> Opened {
        let watch = SessionClock(clock)
        let begin = watch.elapsed()
        var (isTold, pause) = (false, Self.firstPause)
        // Since when it can't be told who has the device, as if that program has just ended. Behind one command there may be
        // many, each gone by the time that it is looked for.
        var (unknownSince, looks, isCrowd): (Duration?, Int, Bool) = (nil, 0, false)
        while true {
            var busy: LinkError
            do { return try await open() } catch {
                guard wait > .zero || commandWait > .zero, error.code == .busy || error.isNotReadyAtDaemon else {
                    throw error
                }
                busy = error
            }
            let (waited, remedy) = (watch.elapsed() - begin, await remedy(for: busy))
            // What bluetoothd refuses is nobody's whose end it could wait for.
            let isRefused = endpoint.scheme == "ble" && busy.holder == nil
            unknownSince = isRefused || busy.holder?.process.isThere == true ? nil : unknownSince ?? waited
            looks = unknownSince == nil ? 0 : looks + 1
            let hasEnded =
                unknownSince != nil && (busy.holder != nil || endpoint.isSerialPort)
                && seesAllPrograms ?? LinkHolder.areAllSeen
            isCrowd = isCrowd || remedy == .waitForHolder || hasEnded
            let isPassing =
                unknownSince.map { isCrowd || looks < Self.leastLooks || waited - $0 < Self.shortWait } ?? false
            let endsSoon = remedy == .waitForHolder || busy.isNotReadyAtDaemon || isPassing
            let rest = (endsSoon ? max(wait, commandWait) : wait) - waited
            guard rest > .zero else {
                busy.remedy = remedy
                throw busy
            }
            if !isTold, !isPassing, waited >= Self.shortWait {
                tell(endpoint.text, .waiting(busy.holder))
                isTold = true
            }
            do { try await clock.sleep(for: min(pause, rest)) } catch {
                throw LinkError(.cancelled, name: endpoint.text, activity: "open")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// What helps where another run of this program has the device; nil where something else has it, or it can't end.
    private func remedy(for busy: LinkError) async -> LinkError.Remedy? {
        guard busy.code == .busy, busy.holder?.isAnotherRun == true else { return nil }
        guard let deviceID = busy.deviceID else { return .waitForHolder }
        return await OffRequest.isHeard(for: deviceID, on: loop) ? .share : .waitForHolder
    }

    // MARK: Daemons

    /// A link to a device that somebody has, if that is a daemon.
    ///
    /// - Parameter busy: That somebody has it.
    private func linkThroughDaemon(
        to endpoint: Endpoint, after busy: LinkError
    ) async throws(LinkError) -> any Link {
        // Of a device that others use too the board is not reset.
        guard let deviceID = busy.deviceID, endpoint.serial?.resetsBoard != true else { throw busy }
        let link: DaemonLink
        do throws(DaemonError) {
            let patience =
                busy.holder?.process.isStopped == true ? .seconds(1) : max(DaemonAttachment.patience, wait)
            link = try await attachment(.deviceID(deviceID), of: endpoint, patience).link(at: daemonSockets())
        } catch {
            throw busy.asking(error)
        }
        return try await checked(link, endpoint)
    }

    /// A link to a device that had been reached through a daemon; nil where the daemon does not have it any more.
    private func link(
        at address: SharedDeviceAddress, of endpoint: Endpoint
    ) async throws(LinkError) -> (any Link)? {
        let link: DaemonLink
        do throws(DaemonError) {
            link = try await attachment(.name(address.name), of: endpoint, max(DaemonAttachment.openingPatience, wait))
                .link(at: [DaemonSocket(path: address.socketPath)])
        } catch {
            if error.code == .noSuchDevice { return nil }
            throw LinkError(error, name: endpoint.text)
        }
        return try await checked(link, endpoint)
    }

    private func attachment(
        _ target: DaemonAttachment.Target, of endpoint: Endpoint, _ patience: Duration
    ) -> DaemonAttachment {
        DaemonAttachment(target: target, linkName: endpoint.text, patience: patience, loop: loop)
    }

    private func checked(_ link: DaemonLink, _ endpoint: Endpoint) async throws(LinkError) -> any Link {
        try await link.check(family)
        if let address = link.sharedAddress, endpoint.scheme != SharedEndpoint.scheme {
            tell(endpoint.text, .throughDaemon(address))
        }
        return link
    }

    private func watch(over endpoint: Endpoint) -> OpeningWatch? {
        guard let patience, endpoint.scheme == "ble" else { return nil }
        return OpeningWatch(after: patience, clock: EventLoopClock(loop), executor: loop) { [tell] in
            tell(endpoint.text, .step($0))
        }
    }

    private func bleUse(of endpoint: Endpoint, for use: LinkUse, _ watch: OpeningWatch?) -> BLEUse {
        // Nobody is to wait for the 2 s that bluetoothd takes to disconnect.
        BLEUse(
            profiles: .families, isBrief: use == .oneCommand, closesAtOnce: true, memory: memory(), openingLimit: limit,
            isPersistent: isPersistent
        ) { [tell] step in
            if let watch { watch.begin(step) } else { tell(endpoint.text, .step(step)) }
        }
    }

    private func wrapped(
        _ link: any Link, to endpoint: Endpoint, for use: LinkUse, onStop: (@Sendable () -> Void)?
    ) async -> any Link {
        let (name, tell) = (link.name, tell)
        let lookAround = search(forUsersOf: link)
        var link = link
        if let capture {
            link = capture.captured(link, openedFrom: endpoint.text, packetCapacity: await link.packetCapacity())
        }
        link = ReportingLink(
            link, clock: EventLoopClock(loop), mayRestart: looksForRestarts, lookAround: lookAround
        ) { tell(name, .discovery($0)) }
        if isTraced {
            tell(name, .opened)
            link = TracedLink(link) { tell(name, .traffic($0)) }
        }
        if let recording {
            link = recording.recorded(
                link, as: endpoint.nameForPeople, device: { endpoint.attachedSerialPort?.deviceName }
            ) { tell(name, .recording($0)) }
        }
        return use == .watching ? await held(link, onStop: onStop) : link
    }

    /// A link that was had otherwise, over which another program can have the device switched off: see ``HeldLink``.
    ///
    /// - Parameter onStop: Called when another program asks for OFF, before it is sent.
    public func held(_ link: any Link, onStop: (@Sendable () -> Void)? = nil) async -> any Link {
        await HeldLink.open(link, of: family, on: loop, onStop: onStop, explain: explain) { [tell, name = link.name] in
            tell(name, .held($0))
        }
    }

    /// What tells of other programs that have the serial port of a link open; nil where it is none.
    ///
    /// All processes are looked at only if an answer is missing or odd, if the link stays open, or if a program that runs has put
    /// down a lock file.
    private func search(forUsersOf link: any Link) -> ReportingLink.LookAround? {
        guard let path = (link as? DescriptorLink)?.portPath else { return nil }
        return { [tell, name = link.name, opened = ContinuousClock.now] isInDoubt in
            guard isInDoubt || LockFile.all(of: path).contains(where: { $0.holder != nil }) else { return }
            let use = PortUse.seen(of: path, since: opened)
            if !use.holders.isEmpty || !use.claims.isEmpty { tell(name, .sharedPort(use)) }
        }
    }
}
