internal import DeviceKit
internal import LineProtocol
internal import Synchronization

/// The times at which a device last reported each field of its state.
final class ReportTimes<Base: FollowedFamily>: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let times = Mutex<[String: Duration]>([:])

    init(by clock: any Clock<Duration>) { elapsed = SessionClock(clock).elapsed }

    /// Notes the time of the fields that a message reports: the fields that are known after the message was applied to
    /// an unknown state.
    ///
    /// - Parameter isReply: Whether the message answers a line of this program; otherwise it is unsolicited.
    func note(_ message: Base.Message, isReply: Bool) {
        var state = Base.State()
        if isReply { state.apply(message) } else { state.overhear(message) }
        note(Base.values(of: state).keys)
    }

    /// Notes that the device has just reported these fields.
    func note(_ fields: some Sequence<String>) {
        let now = elapsed()
        times.withLock { times in for field in fields { times[field] = now } }
    }

    /// The time since each field was reported.
    var ages: [String: Duration] {
        let now = elapsed()
        return times.withLock { $0.mapValues { now - $0 } }
    }
}
