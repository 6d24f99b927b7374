public import DBus

/// Why something could not be done over Bluetooth.
///
/// Programs look at ``code`` and ``name``; people read ``description``, and act on ``hint``.
public struct BLEError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// bluetoothd, or the bus that it is reached over, does not run, or has gone.
        case notRunning = "bluetoothd_not_running"
        /// There is no such Bluetooth adapter.
        case noAdapter = "no_adapter"
        /// The adapter is off, or blocked.
        case adapterOff = "adapter_off"
        /// The device, or the part of it that was named, is not there, or has gone out of sight.
        case notFound = "not_found"
        /// Another attempt, another program, or an earlier session has it.
        case busy
        /// This user, or this program, may not.
        case notPermitted = "not_permitted"
        /// The device wants to be paired first.
        case notPaired = "not_paired"
        /// The device, or bluetoothd, can't do that.
        case unsupported
        /// What was given can't be sent, registered or advertised as it is.
        case invalidArgument = "invalid_argument"
        /// The device is not connected any more, or no connection came about.
        case disconnected
        /// It was closed by this program.
        case closed
        /// It did not come about in time.
        case timedOut = "timed_out"
        /// The task was cancelled.
        case cancelled
        /// bluetoothd refused for another reason, which ``BLEError/message`` tells.
        case failed
    }

    /// What went wrong.
    public var code: Code
    /// The error's name on the bus, where it came from there.
    public var name: DBusErrorName?
    /// What bluetoothd said about it.
    public var message: String?
    /// What was being done, as "connecting to HMSoft".
    public var activity: String
    /// One thing that a person can do about it.
    public var hint: String?

    /// An error with all its parts.
    public init(
        _ code: Code, name: DBusErrorName? = nil, message: String? = nil, activity: String, hint: String? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.activity = activity
        self.hint = hint ?? Self.hint(for: code)
    }

    /// What an error of the bus, or an answer of bluetoothd, means to who talks to a device.
    public init(_ error: DBusError, activity: String) {
        let meaning: Meaning =
            switch error.code {
            case .noBus: Meaning(.notRunning, "the system bus does not run here, or does not let this user in")
            case .refused: Meaning(of: error)
            case .timedOut: Meaning(.timedOut)
            case .cancelled: Meaning(.cancelled)
            case .disconnected: Meaning(.notRunning, "the system bus went away")
            case .closed: Meaning(.closed)
            case .invalidArgument: Meaning(.invalidArgument)
            case .unexpectedValue, .system: Meaning(.failed)
            }
        self.init(meaning.code, name: error.name, message: error.message, activity: activity, hint: meaning.hint)
    }

    private static func hint(for code: Code) -> String? {
        switch code {
        case .notRunning: "start it: sudo systemctl start bluetooth"
        case .noAdapter: "plug an adapter in; 'bluetoothctl list' shows those that there are"
        case .adapterOff: "switch it on: bluetoothctl power on; where that fails: sudo rfkill unblock bluetooth"
        default: nil
        }
    }
}

/// What an answer of bluetoothd means, and what can be done about it.
private struct Meaning {
    let code: BLEError.Code
    let hint: String?

    init(_ code: BLEError.Code, _ hint: String? = nil) {
        self.code = code
        self.hint = hint
    }

    init(of error: DBusError) {
        if let name = error.name, let meaning = Self.table[name] {
            self = meaning
        } else if error.name == .bluez("NotPermitted") {
            self = Self.notPermitted(error.message)
        } else if ATTErrorCode(error.name, error.message)?.asksForPairing == true {
            self = Self.notPaired
        } else {
            self.init(.failed)
        }
    }

    /// `NotPermitted` stands for several things, which bluetoothd tells apart by nothing but its words.
    private static func notPermitted(_ message: String?) -> Meaning {
        let words = message ?? ""
        if words.contains("acquired") {
            return Meaning(.busy, "another program, or an earlier session, has it: end that one")
        }
        if words.contains("Not paired") { return notPaired }
        return Meaning(.notPermitted, "the device does not allow that")
    }

    private static let notPaired = Meaning(.notPaired, "pair with it first: bluetoothctl pair ADDRESS")

    private static let table: [DBusErrorName: Meaning] = [
        .serviceUnknown: Meaning(.notRunning),
        .nameHasNoOwner: Meaning(.notRunning),
        .noReply: Meaning(.notRunning, "bluetoothd went away before it answered: see journalctl -u bluetooth"),
        .accessDenied: Meaning(
            .notPermitted, "join the group that may: sudo usermod -aG bluetooth $USER, then log in again"),
        .unknownObject: Meaning(.notFound, "it went out of sight, or the adapter was renumbered: scan again"),
        .unknownMethod: Meaning(.notFound, "it went out of sight, or this bluetoothd is too old for that: scan again"),
        .notSupported: Meaning(.unsupported),
        .invalidArgs: Meaning(.invalidArgument),
        .bluez("NotReady"): Meaning(.adapterOff),
        .bluez("Blocked"): Meaning(.adapterOff),
        .bluez("InProgress"): Meaning(.busy, "another attempt is pending or stale: wait a moment, then try again"),
        .bluez("NotAuthorized"): Meaning(
            .notPermitted, "a plugin of bluetoothd has claimed the service: see its -P option"),
        .bluez("AlreadyConnected"): Meaning(.busy, "it is connected already"),
        .bluez("AlreadyExists"): Meaning(.busy, "an earlier session has registered it: end that one"),
        .bluez("NotConnected"): Meaning(.disconnected, "connect again"),
        .bluez("ConnectionAttemptFailed"): Meaning(.disconnected, "bring it nearer, and see that it has power"),
        .bluez("DoesNotExist"): Meaning(.notFound),
        .bluez("NotAvailable"): Meaning(.notFound),
        .bluez("NotSupported"): Meaning(.unsupported),
        .bluez("InvalidArguments"): Meaning(.invalidArgument),
        .bluez("InvalidLength"): Meaning(.invalidArgument),
        .bluez("InvalidValueLength"): Meaning(.invalidArgument),
        .bluez("InvalidOffset"): Meaning(.invalidArgument),
        .bluez("ImproperlyConfigured"): Meaning(.notPermitted, "the device is set up to refuse that"),
        .bluez("AuthenticationFailed"): Meaning(.notPaired, "pair with it anew: bluetoothctl remove ADDRESS"),
        .bluez("AuthenticationCanceled"): Meaning(.notPaired, "pair with it, and accept on both sides"),
        .bluez("AuthenticationRejected"): Meaning(.notPaired, "pair with it, and accept on both sides"),
        .bluez("AuthenticationTimeout"): Meaning(.notPaired, "pair with it, and accept on both sides"),
    ]
}

extension BLEError {
    /// The error of the Attribute Protocol that bluetoothd passed on; nil where it was none, or has a name of its own.
    public var attError: ATTErrorCode? { ATTErrorCode(name, message) }
}

extension DBusErrorName {
    /// One of bluetoothd's own.
    static func bluez(_ word: StaticString) -> DBusErrorName {
        DBusErrorName("org.bluez.Error.\(word)") ?? .failed
    }
}

extension BLEError: CustomStringConvertible {
    /// One line: what was being done, what went wrong, and what can be done.
    public var description: String { "\(activity): \(reason)" + (hint.map { "; \($0)" } ?? "") }

    /// What went wrong, in a few words, with what bluetoothd said.
    public var reason: String {
        let kind =
            switch code {
            case .notRunning: "bluetoothd is not running"
            case .noAdapter: "there is no Bluetooth adapter"
            case .adapterOff: "the Bluetooth adapter is off, or blocked by rfkill"
            case .notFound: "it is not there"
            case .busy: "it is in use"
            case .notPermitted: "not permitted"
            case .notPaired: "the device is not paired"
            case .unsupported: "not supported"
            case .invalidArgument: "not valid"
            case .disconnected: "the device is not connected"
            case .closed: "it was closed"
            case .timedOut: "it did not come about in time"
            case .cancelled: "cancelled"
            case .failed: "bluetoothd refused"
            }
        guard let detail = message.flatMap({ $0.isEmpty ? nil : $0 }) ?? name?.text else { return kind }
        return "\(kind) (\(detail))"
    }
}
