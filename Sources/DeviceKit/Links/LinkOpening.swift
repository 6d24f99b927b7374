public import DescriptorIO
public import LineProtocol
public import SerialPort
public import Transports

/// The settings with which a program opens its links. Every link reports discoveries, such as other users of the port.
/// Links can be traced, recorded or captured. A link for ``LinkUse/watching`` is held, so that other programs can
/// request OFF. If a daemon, pumpctld, owns the device, the link leads through the daemon.
///
/// ```swift
/// var opening = LinkOpening(of: .pump) { name, report in print(name, report) }
/// opening.isTraced = true
/// let link = try await opening.link(to: Endpoint("ble:HMSoft"), for: .watching)
/// ```
public struct LinkOpening: Sendable {
    /// An occurrence that concerns a link.
    public enum Report: Sendable {
        /// The current step of opening a BLE device. Nil at the end of the opening, if ``LinkOpening/patience`` is set
        /// and a step was reported.
        case step(BLEOpeningStep?)
        /// Another program has the device, and this program waits until the device is free. The holder is nil if it
        /// can't be identified.
        case waiting(LinkHolder?)
        /// A daemon owns the device and forwards the traffic. Not reported for `shared:NAME`, which always leads
        /// through a daemon.
        case throughDaemon(SharedDeviceAddress)
        /// A traced link is open.
        case opened
        /// Traffic on a traced link.
        case traffic(TracedLink.Entry)
        /// A discovery about the link, or about the board at its other end.
        case discovery(ReportingLink.Discovery)
        /// Other programs have the serial port open too, or claim it by a lock file.
        case sharedPort(PortUse)
        /// A report of a held link about requests for OFF.
        case held(HeldLink.Report)
        /// A problem with the record.
        case recording(SharedRecording.Report)
    }

    /// The openers of links, by scheme. The openers of `ble:` and `shared:` are not used: the other properties decide
    /// how such devices are opened.
    public var schemes = LinkSchemes.standardAndShared
    /// Returns the memory of BLE names and their addresses; nil for none. Called only for a BLE device.
    public var memory: @Sendable () -> BLEMemoryFile? = { nil }
    /// The longest time to open a BLE device, or the device of `shared:NAME`; nil for the default limits of the steps.
    public var limit: Duration?
    /// Whether opening a BLE device connects again and again if pairing or subscribing to notifications fails for a
    /// reason that may pass: until ``limit`` is over, or 60 s if ``limit`` is nil. If false, opening connects only once
    /// more in this case.
    public var isPersistent = false
    /// The time from the beginning of the first step of opening a BLE device during which no step is reported; nil to
    /// report each step when it begins.
    public var patience: Duration?
    /// The longest wait for a device that another program has; zero to fail at once. The wait for a daemon's answer is
    /// at least 5 s, unless the daemon is stopped, as by Ctrl-Z.
    public var wait = Duration.zero
    /// The longest wait for a device that is probably free soon: another run of this program has it, accepts no
    /// requests for OFF and is not stopped; a daemon is opening it; or its holder can't be identified, which counts for
    /// about 1 s, and longer while short runs of this program follow one another. ``wait`` applies if longer.
    public var commandWait = Duration.zero
    /// Whether to report the traffic on the links.
    public var isTraced = false
    /// Whether to look for boot messages by which an ESP32's ROM shows that the board has restarted.
    public var looksForRestarts = true
    /// The record for the traffic on the links; nil for none.
    public var recording: SharedRecording?
    /// The capture of all traffic, for replay; nil for none.
    public var capture: Capture?
    /// Describes the problem to a program that has requested OFF, if the device is not known to be off.
    public var explain: @Sendable (OffProblem) -> OffFailure = { OffFailure($0) }

    /// Returns the sockets at which daemons may listen. Called only if a daemon is needed.
    package var daemonSockets: DaemonSocket.Search = { DaemonSocket.present }
    /// Whether the programs of other users are visible. If so, a holder that can't be identified has ended. Nil to ask
    /// the system when needed.
    package var seesAllPrograms: Bool?
    /// The clock that measures ``wait`` and ``commandWait``.
    package var clock: any Clock<Duration>

    private let family: Family
    private let loop: EventLoop
    private let tell: @Sendable (_ name: String, Report) -> Void

    /// Creates settings for links to devices of a family.
    ///
    /// - Parameters:
    ///   - family: The family of the devices.
    ///   - loop: The event loop of the links.
    ///   - tell: Receives each report with the name of the link or, during the opening, the text of the endpoint; must
    ///     not block.
    public init(
        of family: Family, on loop: EventLoop = .shared,
        tell: @escaping @Sendable (_ name: String, Report) -> Void = { _, _ in }
    ) {
        self.family = family
        self.loop = loop
        self.tell = tell
        clock = EventLoopClock(loop)
    }

    /// Opens a link, which the caller closes.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - use: The purpose of the link.
    ///   - onStop: Called at each request of another program for OFF, before OFF is sent; must not block. Used only for
    ///     ``LinkUse/watching``.
    /// - Throws: `busy` or `unavailable` if another program has the device and the wait is over; `cancelled`;
    ///   `wrongFamily` if the device of a daemon belongs to another family; the other errors of opening.
    public func link(
        to endpoint: Endpoint, for use: LinkUse = .transfer, onStop: (@Sendable () -> Void)? = nil
    ) async throws(LinkError) -> any Link {
        let link = try await whenFree(endpoint) { () async throws(LinkError) in try await opened(endpoint, for: use) }
        if let remark = link.openingNote { tell(endpoint.text, .discovery(.remark(remark))) }
        return await wrapped(link, to: endpoint, for: use, onStop: onStop)
    }

    /// Makes one attempt to open a link: directly or, if a daemon owns the device, through the daemon.
    private func opened(_ endpoint: Endpoint, for use: LinkUse) async throws(LinkError) -> any Link {
        if let address = endpoint.sharedAddress, let link = try await link(at: address, of: endpoint) { return link }
        do { return try await link(toDeviceAt: endpoint, for: use) } catch {
            guard error.code == .busy else { throw error }
            return try await linkThroughDaemon(to: endpoint, after: error)
        }
    }

    /// Opens the endpoint by the opener of its scheme.
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

    /// Opens a BLE device of any kind, to use its characteristics one by one. The caller closes the device. The only
    /// reports are the steps of opening and the wait for another program.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - use: The purpose of the connection.
    public func device(at endpoint: Endpoint, for use: LinkUse = .transfer) async throws(LinkError) -> BLEDevice {
        try await whenFree(endpoint) { () async throws(LinkError) in
            let watch = watch(over: endpoint)
            defer { watch?.end() }
            return try await BLEDevice.open(endpoint, on: loop, as: bleUse(of: endpoint, for: use, watch))
        }
    }

    // MARK: Waiting

    /// The first pause between two attempts to open a busy device. Each pause is twice as long as the previous one, up
    /// to the longest: finding the holder takes milliseconds, and many programs may wait.
    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.milliseconds(400)
    /// The wait before ``Report/waiting(_:)`` is sent, and the time during which a holder that can't be identified may
    /// have just come or gone.
    static let shortWait = Duration.seconds(1)
    /// The minimum number of attempts to identify a holder before the device counts as held by an unknown program. On a
    /// busy machine each attempt takes long, so ``shortWait`` alone could end after one or two.
    private static let leastLooks = 6

    /// Opens a device. If another program has it, retries until it is free or the wait is over.
    private func whenFree<Opened: Sendable>(
        _ endpoint: Endpoint, _ open: () async throws(LinkError) -> Opened
    ) async throws(LinkError) -> Opened {
        let watch = SessionClock(clock)
        let begin = watch.elapsed()
        var (isTold, pause) = (false, Self.firstPause)
        // `unknownSince`: the time since which the holder can't be identified, probably because it has just ended.
        // `isCrowd`: many short commands may follow one another, each of which ends before it can be identified.
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
            // A BLE device that is busy without a visible holder: another program is subscribed to the device, or holds
            // it in a container. No holder has just ended.
            let isRefused = endpoint.scheme == "ble" && busy.holder == nil
            unknownSince = isRefused || busy.holder?.process.isThere == true ? nil : unknownSince ?? waited
            looks = unknownSince == nil ? 0 : looks + 1
            let hasEnded =
                unknownSince != nil && (busy.holder != nil || endpoint.isSerialPort)
                && seesAllPrograms ?? LinkHolder.areAllSeen
            isCrowd = isCrowd || remedy == .waitForHolder || hasEnded
            // The holder can't be identified, but probably only because it has just come or gone.
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

    /// Returns the remedy if another run of this program has the device and is not stopped: to share the device if that
    /// run accepts requests for OFF, else to wait. Returns nil for any other holder.
    private func remedy(for busy: LinkError) async -> LinkError.Remedy? {
        guard busy.code == .busy, busy.holder?.isAnotherRun == true else { return nil }
        guard let deviceID = busy.deviceID else { return .waitForHolder }
        return await OffRequest.isHeard(for: deviceID, on: loop) ? .share : .waitForHolder
    }

    // MARK: Daemons

    /// Opens a link to a busy device through a daemon, if one shares the device.
    ///
    /// - Parameter busy: The error of the attempt to open the device directly.
    /// - Throws: `busy` itself if no daemon can be asked for the device; the error of ``LinkError/asking(_:)`` if no
    ///   daemon shares the device; `wrongFamily`.
    private func linkThroughDaemon(
        to endpoint: Endpoint, after busy: LinkError
    ) async throws(LinkError) -> any Link {
        // Resetting the board would disturb the daemon's other users.
        guard let deviceID = busy.deviceID, endpoint.serial?.resetsBoard != true else { throw busy }
        let link: DaemonLink
        do throws(DaemonError) {
            // A stopped daemon can answer only if it is resumed within the second.
            let patience =
                busy.holder?.process.isStopped == true ? .seconds(1) : max(DaemonAttachment.patience, wait)
            link = try await attachment(.deviceID(deviceID), of: endpoint, patience).link(at: daemonSockets())
        } catch {
            throw busy.asking(error)
        }
        return try await checked(link, endpoint)
    }

    /// Opens a link to a device that was reached through a daemon before. Returns nil if the daemon does not have the
    /// device any more.
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

    /// Checks the family of a daemon's device, and reports that the link leads through the daemon.
    ///
    /// - Throws: `wrongFamily`. The link is then closed.
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
        // `closesAtOnce` saves the caller the 2 s that bluetoothd takes to disconnect.
        BLEUse(
            profiles: .families, isBrief: use == .oneCommand, closesAtOnce: true, memory: memory(), openingLimit: limit,
            isPersistent: isPersistent
        ) { [tell] step in
            if let watch { watch.begin(step) } else { tell(endpoint.text, .step(step)) }
        }
    }

    /// Wraps a link as the settings require.
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
        // The outermost wrapper, so that the others trace, record and capture an OFF that another program requests.
        return use == .watching ? await held(link, onStop: onStop) : link
    }

    /// Wraps an open link so that other programs can request OFF over it: see ``HeldLink``.
    ///
    /// - Parameters:
    ///   - link: An open link, perhaps not opened by ``link(to:for:onStop:)``.
    ///   - onStop: Called at each request of another program for OFF, before OFF is sent; must not block.
    public func held(_ link: any Link, onStop: (@Sendable () -> Void)? = nil) async -> any Link {
        await HeldLink.open(link, of: family, on: loop, onStop: onStop, explain: explain) { [tell, name = link.name] in
            tell(name, .held($0))
        }
    }

    /// Returns a function that looks for other programs that have the link's serial port open; nil if the link is no
    /// serial port.
    ///
    /// The function scans all processes only if it is called in doubt (the link stays open, or an answer is missing or
    /// odd), or if a running program has a lock file for the port.
    private func search(forUsersOf link: any Link) -> ReportingLink.LookAround? {
        guard let path = (link as? DescriptorLink)?.portPath else { return nil }
        return { [tell, name = link.name, opened = ContinuousClock.now] isInDoubt in
            guard isInDoubt || LockFile.all(of: path).contains(where: { $0.holder != nil }) else { return }
            let use = PortUse.seen(of: path, since: opened)
            if !use.holders.isEmpty || !use.claims.isEmpty { tell(name, .sharedPort(use)) }
        }
    }
}
