public import DBus
internal import Glibc

/// A failure of a Bluetooth operation.
///
/// Programs check ``code`` and ``name``; people read ``description``, and follow ``hint``.
public struct BLEError: Error, Sendable, Hashable {
    /// The kinds of failure that callers handle differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// bluetoothd does not run, or has stopped.
        case notRunning = "bluetoothd_not_running"
        /// The system bus, which leads to bluetoothd, can't be reached, or has stopped.
        case noBus = "no_system_bus"
        /// There is no Bluetooth adapter, or none with the requested name or address.
        case noAdapter = "no_adapter"
        /// The adapter is not powered, or blocked.
        case adapterOff = "adapter_off"
        /// The adapter has its maximum number of connections.
        case adapterFull = "adapter_full"
        /// The device, or a part of it, does not exist, or has gone out of sight.
        case notFound = "not_found"
        /// Another attempt, another program, or an earlier ``BlueZ`` client of this program uses the device or the
        /// adapter.
        case busy
        /// This user or this program lacks the permission, or the device does not allow the operation.
        case notPermitted = "not_permitted"
        /// The device requires pairing.
        case notPaired = "not_paired"
        /// The device, or bluetoothd, does not support the operation.
        case unsupported
        /// An argument can't be sent, registered or advertised.
        case invalidArgument = "invalid_argument"
        /// The device is no longer connected, or could not be connected.
        case disconnected
        /// This program closed the connection, the client or the peripheral.
        case closed
        /// The operation did not finish in time.
        case timedOut = "timed_out"
        /// The task was cancelled.
        case cancelled
        /// Any reason without a case of its own: see ``BLEError/message``.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// The D-Bus name of the error; nil for most errors that did not come over the bus.
    public var name: DBusErrorName?
    /// The details of the failure, mostly in bluetoothd's words; nil if there are none.
    public var message: String?
    /// The operation that failed, such as "connecting to HMSoft".
    public var activity: String
    /// One action that may solve the problem, for people; nil if none is known.
    public var hint: String?

    /// Creates an error with all its parts. Without a hint, the error gets the general hint for its code, if there is
    /// one.
    public init(
        _ code: Code, name: DBusErrorName? = nil, message: String? = nil, activity: String, hint: String? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.activity = activity
        self.hint = hint ?? Self.hint(for: code)
    }

    /// Creates an error from an error of the bus, or from an error reply of bluetoothd.
    public init(_ error: DBusError, activity: String) {
        let meaning: Meaning =
            switch error.code {
            // An error with a D-Bus name comes from a bus that exists, and has refused this user.
            case .noBus: Meaning(.noBus, error.name == nil ? Self.hintOnNamedBus : error.hint)
            case .refused: Meaning(of: error)
            case .timedOut: Meaning(.timedOut)
            case .cancelled: Meaning(.cancelled)
            case .disconnected: Meaning(.noBus, "try again once the system bus is back")
            case .closed: Meaning(.closed)
            case .invalidArgument: Meaning(.invalidArgument)
            case .unexpectedValue, .system: Meaning(.failed)
            }
        self.init(meaning.code, name: error.name, message: error.message, activity: activity, hint: meaning.hint)
    }

    /// The hint for a bus that `DBUS_SYSTEM_BUS_ADDRESS` names; nil if the variable is not set.
    private static var hintOnNamedBus: String? {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { _ in "unset DBUS_SYSTEM_BUS_ADDRESS, or start the bus that it names" }
    }

    private static func hint(for code: Code) -> String? {
        switch code {
        case .notRunning: "start bluetoothd: sudo systemctl start bluetooth"
        case .noBus: "start the system bus: sudo systemctl start dbus; in a container: mount the host's /run/dbus"
        case .noAdapter: "plug an adapter in; 'bluetoothctl list' lists the adapters"
        case .adapterFull: "disconnect another device first: bluetoothctl disconnect ADDRESS"
        case .adapterOff: "switch the adapter on: bluetoothctl power on; if that fails: sudo rfkill unblock bluetooth"
        default: nil
        }
    }
}

/// The interpretation of an error reply of bluetoothd. Without a hint, the error gets the general hint for its code.
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
        } else if error.name?.isActivationFailure == true {
            self.init(
                .notRunning,
                "start bluetoothd: sudo systemctl start bluetooth; see why it failed: journalctl -u bluetooth")
        } else if error.name == .bluez("NotPermitted") {
            self = Self.notPermitted(error.message)
        } else if error.name == .bluez("Failed"), error.message == "Not connected" {
            self.init(.disconnected, "connect again")
        } else if error.name == .bluez("Failed"), Self.refusalsOfAdapter.contains(error.message ?? "") {
            self.init(.adapterFull)
        } else if ATTErrorCode(error.name, error.message)?.asksForPairing == true {
            self = Self.notPaired
        } else {
            self.init(.failed)
        }
    }

    /// The messages with which a `Failed` error means that the adapter is full. They stand for EMLINK and ENOMEM, with
    /// which the kernel reports that the controller has no room for another connection (src/error.c).
    private static let refusalsOfAdapter: Set<String> = [
        "le-connection-concurrent-connection-limit", "le-connection-memory-allocation",
        "br-connection-sync-connect-limit",
    ]

    /// Interprets `NotPermitted`, which has several meanings: only bluetoothd's text distinguishes them.
    private static func notPermitted(_ message: String?) -> Meaning {
        let words = message ?? ""
        if words.contains("acquired") {
            return Meaning(.busy, "end the other program, or the earlier session, that uses the characteristic")
        }
        if words.contains("Not paired") { return notPaired }
        return Meaning(.notPermitted, "check the characteristic's flags: the device does not allow the operation")
    }

    private static let notPaired = Meaning(.notPaired, "pair with the device first: bluetoothctl pair ADDRESS")

    private static let table: [DBusErrorName: Meaning] = [
        .serviceUnknown: Meaning(.notRunning),
        .nameHasNoOwner: Meaning(.notRunning),
        // The unit has its D-Bus alias only while it is enabled. Otherwise systemd reports "Unit dbus-org.bluez.service
        // not found".
        .noSuchUnit: Meaning(.notRunning, "enable bluetoothd: sudo systemctl enable --now bluetooth"),
        .unitMasked: Meaning(.notRunning, "unmask bluetoothd: sudo systemctl unmask --now bluetooth"),
        .noReply: Meaning(.notRunning, "see why bluetoothd stopped: journalctl -u bluetooth"),
        .accessDenied: Meaning(
            .notPermitted, "join the group bluetooth: sudo usermod -aG bluetooth $USER, then log in again"),
        .unknownObject: Meaning(.notFound, "scan again: the device went out of range, or the adapter was renumbered"),
        .unknownMethod: Meaning(.notFound, "scan again: the device went out of range, or this bluetoothd is too old"),
        .notSupported: Meaning(.unsupported),
        .invalidArgs: Meaning(.invalidArgument),
        .bluez("NotReady"): Meaning(.adapterOff),
        .bluez("Blocked"): Meaning(.adapterOff),
        .bluez("InProgress"): Meaning(.busy, "wait a moment, then try again: another attempt is pending or stale"),
        .bluez("NotAuthorized"): Meaning(
            .notPermitted, "keep bluetoothd's plugin from claiming the service: see its option -P"),
        .bluez("AlreadyConnected"): Meaning(.busy, "disconnect the device first, or use its connection"),
        .bluez("AlreadyExists"): Meaning(.busy, "stop the program that registered it before"),
        .bluez("NotConnected"): Meaning(.disconnected, "connect again"),
        .bluez("ConnectionAttemptFailed"): Meaning(.disconnected, "move the device closer, and check its power"),
        .bluez("DoesNotExist"): Meaning(.notFound),
        .bluez("NotAvailable"): Meaning(.notFound),
        .bluez("NotSupported"): Meaning(.unsupported),
        .bluez("InvalidArguments"): Meaning(.invalidArgument),
        .bluez("InvalidLength"): Meaning(.invalidArgument),
        .bluez("InvalidValueLength"): Meaning(.invalidArgument),
        .bluez("InvalidOffset"): Meaning(.invalidArgument),
        .bluez("ImproperlyConfigured"): Meaning(
            .notPermitted, "check the device's configuration: it does not allow the operation"),
        .bluez("AuthenticationFailed"): Meaning(
            .notPaired, "remove the old pairing, then pair again: bluetoothctl remove ADDRESS"),
        .bluez("AuthenticationCanceled"): Meaning(.notPaired, "pair with the device, and accept on both sides"),
        .bluez("AuthenticationRejected"): Meaning(.notPaired, "pair with the device, and accept on both sides"),
        .bluez("AuthenticationTimeout"): Meaning(.notPaired, "pair with the device, and accept on both sides"),
    ]
}

extension BLEError {
    /// The code of the Attribute Protocol in bluetoothd's message; nil if there is none, or bluetoothd has a name for
    /// the error.
    public var attError: ATTErrorCode? { ATTErrorCode(name, message) }
}

extension DBusErrorName {
    fileprivate static let noSuchUnit: DBusErrorName = "org.freedesktop.systemd1.NoSuchUnit"
    fileprivate static let unitMasked: DBusErrorName = "org.freedesktop.systemd1.UnitMasked"

    /// Whether the error means that the bus failed to start a service, itself or by systemd. Such errors have a name in
    /// one of two groups (D-Bus specification, "Message Bus Starting Services"; systemd's bus-common-errors.h), or
    /// `TimedOut` if the service was not ready in time.
    fileprivate var isActivationFailure: Bool {
        text.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || text.hasPrefix("org.freedesktop.systemd1.")
            || text == "org.freedesktop.DBus.Error.TimedOut"
    }

    /// Returns the name of one of bluetoothd's own errors.
    static func bluez(_ word: StaticString) -> DBusErrorName {
        DBusErrorName("org.bluez.Error.\(word)") ?? .failed
    }
}

extension BLEError: CustomStringConvertible {
    /// One line: the operation, the reason, and the hint.
    public var description: String { "\(activity): \(reason)" + (hint.map { "; \($0)" } ?? "") }

    /// The explanation, mostly in bluetoothd's words, or else the D-Bus name of the error; nil if there is neither.
    public var explanation: String? { message.flatMap { $0.isEmpty ? nil : $0 } ?? name?.text }

    /// The reason in a few words, with bluetoothd's explanation.
    public var reason: String {
        let detail = explanation
        if code == .notRunning, name?.isActivationFailure == true, let detail {
            return "bluetoothd failed to start: \(detail)"
        }
        // With `noBus`, only a failed connection has a message, from libdbus. Without one, the bus was there and has
        // gone.
        let kind =
            switch code {
            case .notRunning: "bluetoothd is not running"
            case .noBus: message == nil ? "the system bus has gone" : "the system bus can't be reached"
            case .noAdapter: "Bluetooth adapter not found"
            case .adapterOff: "the Bluetooth adapter is off, or blocked by rfkill"
            case .adapterFull: "the Bluetooth adapter takes no more connections"
            case .notFound: "not found"
            case .busy: "already in use"
            case .notPermitted: "permission denied"
            case .notPaired: "the device is not paired"
            case .unsupported: "not supported"
            case .invalidArgument: "invalid argument"
            case .disconnected: "the device is not connected"
            case .closed: "closed by this program"
            case .timedOut: "timeout"
            case .cancelled: "cancelled"
            case .failed: "operation failed"
            }
        return detail.map { "\(kind) (\($0))" } ?? kind
    }
}
