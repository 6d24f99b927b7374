/// A failure of a D-Bus operation.
///
/// Programs check ``code`` and ``name``; people read ``description``, and follow ``hint``.
public struct DBusError: Error, Sendable, Hashable {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// There is no bus at the address, or the bus does not admit this user.
        case noBus
        /// The called program or the bus replied with an error: see ``DBusError/name``.
        case refused
        /// No reply came before the deadline. Whether the call was carried out is unknown.
        case timedOut
        /// The task was cancelled. Whether the call was carried out is unknown.
        case cancelled
        /// The bus went away.
        case disconnected
        /// This program closed the connection.
        case closed
        /// An argument can't be sent. Nothing was sent.
        case invalidArgument
        /// A reply is not of the expected type.
        case unexpectedValue
        /// The system refused: no memory or no descriptor is left.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The D-Bus name of an error reply, received or to be sent; nil for most other errors.
    public var name: DBusErrorName?
    /// An explanation, mostly the called program's; nil if there is none.
    public var message: String?
    /// The operation that failed, such as "calling org.bluez.Adapter1.StartDiscovery".
    public var activity: String
    /// One action that may solve the problem, for people; nil if none is known.
    public var hint: String?

    /// Creates an error with all its parts.
    public init(
        _ code: Code, name: DBusErrorName? = nil, message: String? = nil, activity: String, hint: String? = nil
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.activity = activity
        self.hint = hint
    }

    /// Creates an error for a handler of this program to throw: the caller of the method or property gets an error
    /// reply with this name and message.
    public init(answering name: DBusErrorName, _ message: String) {
        self.init(.refused, name: name, message: message, activity: "answering")
    }

    /// Creates an error from an error reply.
    init(answer name: DBusErrorName, message: String?, activity: String) {
        let hint: String? =
            switch name {
            case .serviceUnknown, .nameHasNoOwner: "start the service, then try again"
            case .accessDenied, .authFailed: "check this user's groups and the bus policy of the service"
            default: nil
            }
        self.init(.refused, name: name, message: message, activity: activity, hint: hint)
    }
}

extension DBusError: CustomStringConvertible {
    /// One line: the operation, the reason, the message, and the hint.
    public var description: String {
        var text = "\(activity): \(reason)"
        if let message, !message.isEmpty { text += " (\(message))" }
        if let hint { text += "; \(hint)" }
        return text
    }

    /// The reason in a few words.
    public var reason: String {
        switch code {
        case .noBus: "the bus can't be reached"
        case .refused: name?.text ?? "refused"
        case .timedOut: "no answer in time"
        case .cancelled: "cancelled"
        case .disconnected: "the connection to the bus was lost"
        case .closed: "the connection is closed"
        case .invalidArgument: "invalid argument"
        case .unexpectedValue: "the reply has an unexpected type"
        case .system: "failed"
        }
    }
}
