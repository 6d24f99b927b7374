internal import CDBus

/// A call of a method, to be sent.
public struct DBusCall: Sendable, Hashable {
    /// Who is called: a unique or a well-known name.
    public var destination: String
    public var path: ObjectPath
    public var interface: String
    public var member: String
    public var arguments: [DBusValue]
    /// Whether the bus may start the service that is called.
    public var startsService = true
    /// Whether the peer may ask the user for a permission, which takes as long as the user does.
    public var mayAskUser = false

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

    /// A call of the bus itself.
    init(toBus member: String, _ arguments: [DBusValue] = []) {
        self.init(to: BusName.bus, BusName.busPath, BusName.bus, member, arguments)
    }

    /// What is being done, for an error.
    var activity: String { "calling \(interface).\(member) of \(destination)" }

    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``.
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
