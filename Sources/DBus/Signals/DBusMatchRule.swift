internal import CDBus

/// Which signals are wanted: those of which all that is named here is so.
public struct DBusMatchRule: Sendable, Hashable {
    /// Who sends: a unique or a well-known name. The owner of a well-known one is followed as it changes.
    public var sender: String?
    /// The object.
    public var path: ObjectPath?
    /// The object, or one it is below.
    public var pathNamespace: ObjectPath?
    public var interface: String?
    public var member: String?
    /// The first argument, a string.
    public var firstArgument: String?

    /// A rule; on the bus at most one of `path` and `pathNamespace` is allowed.
    public init(
        sender: String? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil, interface: String? = nil,
        member: String? = nil, firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// The bus tells that a name, or any, has another owner: arguments `sss`, the name, its old and its new owner, empty
    /// for none.
    public static func nameOwnerChanged(_ name: String? = nil) -> DBusMatchRule {
        DBusMatchRule(
            sender: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: "NameOwnerChanged",
            firstArgument: name)
    }

    /// Properties of an interface have changed: arguments `sa{sv}as`.
    public static func propertiesChanged(
        sender: String? = nil, pathNamespace: ObjectPath? = nil, of interface: String? = nil
    ) -> DBusMatchRule {
        DBusMatchRule(
            sender: sender, pathNamespace: pathNamespace, interface: BusName.properties, member: "PropertiesChanged",
            firstArgument: interface)
    }

    /// The rule as the bus reads it.
    var text: String {
        var text = "type='signal'"
        let keys: [(String, String?)] = [
            ("sender", sender), ("path", path?.text), ("path_namespace", pathNamespace?.text),
            ("interface", interface), ("member", member), ("arg0", firstArgument),
        ]
        for case (let key, let value?) in keys {
            // Within apostrophes nothing else is special, so that one has to stand outside.
            text +=
                ",\(key)='" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            text += "'"
        }
        return text
    }

    /// The well-known name whose owner has to be followed.
    var followedName: String? {
        guard let sender, sender != BusName.bus, !sender.hasPrefix(":") else { return nil }
        return sender
    }

    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``.
    func check() throws(DBusError) {
        let activity = "asking for signals"
        if let sender { try BusName.check(sender, .busName, activity: activity) }
        if let interface { try BusName.check(interface, .interface, activity: activity) }
        if let member { try BusName.check(member, .member, activity: activity) }
        guard path == nil || pathNamespace == nil else {
            throw DBusError(
                .invalidArgument, message: "a rule has a path or a path namespace, not both", activity: activity)
        }
        guard firstArgument?.utf8.contains(0) != true else {
            throw DBusError(.invalidArgument, message: "a NUL in a string", activity: activity)
        }
    }

    /// Whether the rule fits a message.
    ///
    /// - Parameter owner: Who has the ``followedName`` now.
    func fits(_ message: DBusMessage, owner: String?) -> Bool {
        let header = message.header
        if let member, !DBusMessage.isEqual(header.member, member) { return false }
        if let interface, !DBusMessage.isEqual(header.interface, interface) { return false }
        if let path, !DBusMessage.isEqual(header.path, path.text) { return false }
        if let pathNamespace, message.path?.isWithin(pathNamespace) != true { return false }
        if let firstArgument {
            guard message.header.signature?.pointee == CChar(TypeCode.string),
                message.cursor?.isString(firstArgument) == true
            else { return false }
        }
        guard let sender else { return true }
        guard followedName != nil else { return DBusMessage.isEqual(header.sender, sender) }
        return owner.map { DBusMessage.isEqual(header.sender, $0) } ?? false
    }
}
