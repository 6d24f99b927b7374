internal import CDBus

/// A method call to send.
public struct DBusCall: Sendable, Hashable {
    /// The bus name of the callee: a unique or a well-known name.
    public var destination: String
    /// The object that has the method.
    public var path: ObjectPath
    /// The interface that has the method.
    public var interface: String
    /// The name of the method.
    public var member: String
    /// The arguments, in order.
    public var arguments: [DBusValue]
    /// Whether the bus may start the service if it does not run.
    public var startsService = true
    /// Whether the called program may ask the user for authorization. If so, the reply comes only after the user has
    /// answered, so that the call needs a longer time-out.
    public var mayAskUser = false

    /// Creates a call. Names and arguments are validated when the call is sent.
    ///
    /// - Parameters:
    ///   - destination: The bus name of the callee.
    ///   - path: The object.
    ///   - interface: The interface that has the method.
    ///   - member: The name of the method.
    ///   - arguments: The arguments, in order.
    public init(
        to destination: String, _ path: ObjectPath, _ interface: String, _ member: String,
        _ arguments: [DBusValue] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Creates a call of a method of the bus itself.
    init(toBus member: String, _ arguments: [DBusValue] = []) {
        self.init(to: BusName.bus, BusName.busPath, BusName.bus, member, arguments)
    }

    /// The operation, for errors.
    var activity: String { "calling \(interface).\(member) of \(destination)" }

    /// Validates the call and encodes it.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` or ``DBusError/Code/system``.
    func encoded(wantsNoReply: Bool = false) throws(DBusError) -> OutgoingMessage {
        try BusName.check(destination, .busName, activity: activity)
        try BusName.check(interface, .interface, activity: activity)
        try BusName.check(member, .member, activity: activity)
        let message = try OutgoingMessage(
            cdbus_new_call(destination, path.text, interface, member), arguments, activity: activity)
        cdbus_set_flags(message.pointer, wantsNoReply, startsService, mayAskUser)
        return message
    }
}
