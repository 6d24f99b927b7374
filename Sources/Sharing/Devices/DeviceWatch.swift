internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

/// The subscriptions to a shared device's events, and the tasks that wait for its link.
struct DeviceWatch {
    /// The kinds of events that a program can subscribe to; the raw value is the event's name.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The device sent a line unsolicited.
        case said
        /// The state's values or its `last_change` changed, or the link went up or down. Programs that poll also get
        /// the state after each answer to a poll.
        case state
        /// The link went up or down.
        case link
        /// A line of any program is about to be sent to the device in its turn.
        case command
    }

    /// The events that a program wants, and whether it polls the device.
    struct Subscription: Sendable, Hashable {
        static let none = Subscription()

        var kinds: Set<Kind> = []
        /// Whether the device is asked for its state at intervals on behalf of the program.
        var polls = false
    }

    /// A program with a subscription.
    struct Subscriber {
        var subscription: Subscription
        /// Sends an event's line to the program; called on the loop's thread.
        var tell: @Sendable (_ line: [UInt8]) -> Void
        /// The state that was last sent to the program; nil if none was sent.
        var state: [String: JSONValue]?
    }

    /// The time limit for opening a link that a program needs. After that the device counts as away. Connecting to a
    /// BLE device may go on for 60 s; the program gets its answer earlier.
    static let openingPatience = Duration.seconds(15)

    /// The time since the shared device was created.
    let elapsed: @Sendable () -> Duration
    /// The link's ``LineProtocol/Link/deviceID``, which is the same for all programs on this machine; nil if the link
    /// has none or is lost.
    var deviceID: String?
    /// The value of ``elapsed`` when the device last reported any of its state (in a family without state: at its last
    /// output); nil if the device never did.
    private(set) var lastTold: Duration?
    /// Ranges of ``elapsed`` in which reports were read that may have arrived while this process was stopped (SIGSTOP).
    /// The device may have sent such a report at any time of the stop, so its age is unknown. Only the last hundred
    /// ranges are kept.
    private var lateReports: [ClosedRange<Duration>] = []
    /// The time at which anything last arrived from the device.
    let heard = HeardTime()
    /// The last change on the present link; nil if there was none. Forgotten with the link, as the values are: while
    /// the link is lost, the device may be changed by others, or exchanged. A change whose outcome is unknown is kept,
    /// since the device may still have to be looked after.
    private(set) var lastChange: DeviceChange?
    /// The number of changes that were noted so far, on all links.
    private(set) var changeCount = 0
    /// Splits the output of a raw device into lines.
    var lines = DeviceLines()
    /// The subscribers, by the identities of their control connections.
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// Whether a comparison of the state with the state that subscribers last received is scheduled.
    var isStateLookedAt = false
    /// Whether the values that the device has just reported are about to be recorded.
    var isReadingDue = false
    /// The tasks in ``SharedDevice/waitForLink(isPatient:)``, in the order of their arrival.
    var waiters: [(id: UInt64, isPatient: Bool, continuation: CheckedContinuation<Void, Never>)] = []
    var lastWaiter: UInt64 = 0
    /// Asks for the state at intervals; nil while no program polls the device, or there is no link.
    var polling: Task<Void, Never>?
    /// Whether the last question of ``polling`` has failed.
    var hasPollFailed = false

    init(by clock: any Clock<Duration>) { elapsed = SessionClock(clock).elapsed }

    /// Notes that the device has just reported some of its state.
    ///
    /// - Parameter isLate: Whether the report may have waited while this process was stopped.
    mutating func noteReport(isLate: Bool) {
        let now = elapsed()
        lastTold = now
        guard isLate else { return }
        // The speaker notes the times of the values, from which their ages are counted, shortly before this call.
        var begin = now - .milliseconds(100)
        if let last = lateReports.last, last.upperBound >= begin { begin = lateReports.removeLast().lowerBound }
        lateReports = lateReports.suffix(99) + [begin...now]
    }

    /// Returns whether a report that was read at this value of ``elapsed`` may have arrived earlier, so that its age is
    /// unknown.
    func isReadLate(_ time: Duration) -> Bool { lateReports.contains { $0.contains(time) } }

    mutating func note(_ change: DeviceChange) {
        lastChange = change
        changeCount += 1
    }

    mutating func forgetChange() { if lastChange?.isDone == true { lastChange = nil } }

    /// Returns whether any program subscribes to this kind of event.
    func wants(_ kind: Kind) -> Bool { subscribers.values.contains { $0.subscription.kinds.contains(kind) } }
}
