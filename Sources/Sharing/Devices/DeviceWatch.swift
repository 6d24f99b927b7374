internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol

/// What a shared device keeps for programs that have it by its name: who is told what, and who waits for its link.
struct DeviceWatch {
    /// What a program can be told of a device as it happens.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The device says a line unasked.
        case said
        /// The values of its state, or its link, are others than before.
        case state
        /// Its link is up, or lost.
        case link
        /// A line goes to the device, whoever asked for that.
        case command
    }

    /// A program that is told.
    struct Subscriber {
        var kinds: Set<Kind>
        /// Takes a line; called on the loop's thread.
        var tell: @Sendable (_ line: [UInt8]) -> Void
        /// The state that it was told last.
        var state: [String: JSONValue]?
    }

    /// How long a link may take to be opened for a program that needs it.
    static let openingPatience = Duration.seconds(15)

    /// Time since the device was made.
    let elapsed: @Sendable () -> Duration
    /// The device that the link has for itself, by the name that all programs of this machine have for it.
    var deviceID: String?
    /// When the device has last told any of its state.
    var lastTold: Duration?
    /// The lines of a device whose bytes are passed on as they come.
    var lines = DeviceLines()
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// Whether somebody is going to look at the state.
    var isStateLookedAt = false
    /// Who waits for the link, in the order in which they came.
    var waiters: [(id: UInt64, isPatient: Bool, continuation: CheckedContinuation<Void, Never>)] = []
    var lastWaiter: UInt64 = 0

    init(by clock: any Clock<Duration>) { elapsed = SessionClock(clock).elapsed }

    /// Whether anybody is told such things.
    func wants(_ kind: Kind) -> Bool { subscribers.values.contains { $0.kinds.contains(kind) } }
}
