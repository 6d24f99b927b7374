/// Why something could not be done over D-Bus.
///
/// Programs look at ``code`` and ``name``; people read ``description``, and act on ``hint``.
public struct DBusError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// There is no bus at the address, or it does not let this user in.
        case noBus
        /// The peer, or the bus in its place, answered with an error: see ``DBusError/name``.
        case refused
        /// No answer came in time. Whether the call was carried out is unknown.
        case timedOut
        /// The task was cancelled. Whether the call was carried out is unknown.
        case cancelled
        /// The bus went away.
        case disconnected
        /// The connection was closed by this program.
        case closed
        /// An argument can't be sent; nothing was done.
        case invalidArgument
        /// An answer is not of the type that it should be.
        case unexpectedValue
        /// The system refused: no memory, no descriptor.
        case system
    }

    /// What went wrong.
    public var code: Code
    /// The error's name on the bus, where it came over the bus or is meant to go there.
    public var name: DBusErrorName?
    /// What the peer said about it.
    public var message: String?
    /// What was being done, as in "calling org.bluez.Adapter1.StartDiscovery".
    public var activity: String
    /// One thing a person can do about it.
    public var hint: String?

    /// An error with all its parts.
    public init(
        _ code: Code, name: DBusErrorName? = nil, message: String? = nil, activity: String, hint: String? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.activity = activity
        self.hint = hint
    }

    /// An error for a method or a property to answer with.
    public init(answering name: DBusErrorName, _ message: String) {
        self.init(.refused, name: name, message: message, activity: "answering")
    }

    /// What a peer answered.
    init(answer name: DBusErrorName, message: String?, activity: String) {
        let hint: String? =
            switch name {
            case .serviceUnknown, .nameHasNoOwner: "the service is not running: start it, then try again"
            case .accessDenied, .authFailed: "this user may not: see the groups and the bus policy of the service"
            default: nil
            }
        self.init(.refused, name: name, message: message, activity: activity, hint: hint)
    }
}

extension DBusError: CustomStringConvertible {
    /// One line: what was being done, what went wrong, and what can be done.
    public var description: String {
        var text = "\(activity): \(reason)"
        if let message, !message.isEmpty { text += " (\(message))" }
        if let hint { text += "; \(hint)" }
        return text
    }

    /// What went wrong, in a few words.
    public var reason: String {
        switch code {
        case .noBus: "no bus to talk to"
        case .refused: name?.text ?? "refused"
        case .timedOut: "no answer in time"
        case .cancelled: "cancelled"
        case .disconnected: "the bus went away"
        case .closed: "the connection is closed"
        case .invalidArgument: "can't be sent"
        case .unexpectedValue: "an answer of another type than expected"
        case .system: "failed"
        }
    }
}
