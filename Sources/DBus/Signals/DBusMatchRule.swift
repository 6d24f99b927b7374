internal import CDBus

/// A rule that selects signals. A signal matches if it meets all conditions that are not nil.
public struct DBusMatchRule: Sendable, Hashable {
    /// The sender: a unique or a well-known name. For a well-known name, signals of its current owner match, even after
    /// a change of the owner.
    public var sender: String?
    /// The path of the object.
    public var path: ObjectPath?
    /// The path of the object, or a path above it.
    public var pathNamespace: ObjectPath?
    /// The interface of the signal.
    public var interface: String?
    /// The name of the signal.
    public var member: String?
    /// The first argument. A signal whose first argument is not a string does not match.
    public var firstArgument: String?

    /// Creates a rule. The bus allows at most one of `path` and `pathNamespace`.
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

    /// Returns a rule for changes of the owner of a name, or of any name if `name` is nil.
    ///
    /// The signal has the arguments `sss`: the name, its old owner and its new owner, empty for none.
    public static func nameOwnerChanged(_ name: String? = nil) -> DBusMatchRule {
        DBusMatchRule(
            sender: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: "NameOwnerChanged",
            firstArgument: name)
    }

    /// Returns a rule for `PropertiesChanged`, whose arguments are `sa{sv}as`.
    ///
    /// - Parameters:
    ///   - sender: The bus name of the program that has the objects; nil for any.
    ///   - pathNamespace: The path at or above the objects; nil for any.
    ///   - interface: The interface that has the properties; nil for any.
    public static func propertiesChanged(
        sender: String? = nil, pathNamespace: ObjectPath? = nil, of interface: String? = nil
    ) -> DBusMatchRule {
        DBusMatchRule(
            sender: sender, pathNamespace: pathNamespace, interface: BusName.properties, member: "PropertiesChanged",
            firstArgument: interface)
    }

    /// The rule in the syntax of `AddMatch`.
    var text: String {
        var text = "type='signal'"
        let keys: [(String, String?)] = [
            ("sender", sender), ("path", path?.text), ("path_namespace", pathNamespace?.text),
            ("interface", interface), ("member", member), ("arg0", firstArgument),
        ]
        for case (let key, let value?) in keys {
            // Between apostrophes no character can be escaped: an apostrophe of the value must be outside of them.
            text +=
                ",\(key)='" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
            text += "'"
        }
        return text
    }

    /// The sender, if it is a well-known name, whose owner may change; nil for a unique name, the bus itself or any
    /// sender.
    var followedName: String? {
        guard let sender, sender != BusName.bus, !sender.hasPrefix(":") else { return nil }
        return sender
    }

    /// Validates the rule.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``.
    func check() throws(DBusError) {
        let activity = "subscribing to signals"
        if let sender { try BusName.check(sender, .busName, activity: activity) }
        if let interface { try BusName.check(interface, .interface, activity: activity) }
        if let member { try BusName.check(member, .member, activity: activity) }
        guard path == nil || pathNamespace == nil else {
            throw DBusError(
                .invalidArgument, message: "a path cannot be combined with a path namespace", activity: activity)
        }
        guard firstArgument?.utf8.contains(0) != true else {
            throw DBusError(.invalidArgument, message: "a string contains a NUL character", activity: activity)
        }
    }

    /// Whether a message matches the rule.
    ///
    /// - Parameter owner: The unique name of the current owner of ``followedName``.
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
