/// An object that other programs can call, described by data and closures.
///
/// ```swift
/// let lamp = DBusObject(
///     "/org/example/Lamp",
///     [
///         DBusInterface(
///             "org.example.Lamp",
///             methods: [
///                 DBusMethod("Dim", inputs: [DBusArgument("percent", "y")]) { call in
///                     await lamp.dim(to: call.arguments[0].byte ?? 0)
///                     return []
///                 }
///             ],
///             properties: [DBusProperty("IsOn", "b") { .boolean(await lamp.isOn) }])
///     ])
/// try await bus.export(lamp)
/// ```
///
/// The module itself implements introspection, `Properties`, `ObjectManager` and `Peer`.
public struct DBusObject: Sendable {
    /// The path of the object.
    public var path: ObjectPath
    /// The interfaces of the object, without the standard ones.
    public var interfaces: [DBusInterface]
    /// Whether the object implements `org.freedesktop.DBus.ObjectManager` for the objects below it.
    public var isObjectManager: Bool

    /// Creates an object.
    ///
    /// - Parameters:
    ///   - path: The path of the object.
    ///   - interfaces: The interfaces, without the standard ones.
    ///   - isObjectManager: Whether the object implements `org.freedesktop.DBus.ObjectManager` for the objects below
    ///     it.
    public init(_ path: ObjectPath, _ interfaces: [DBusInterface] = [], isObjectManager: Bool = false) {
        self.path = path
        self.interfaces = interfaces
        self.isObjectManager = isObjectManager
    }

    func interface(_ name: String) -> DBusInterface? { interfaces.first { $0.name == name } }
}

/// An interface of an object: a group of methods, properties and signals.
public struct DBusInterface: Sendable {
    /// The name, such as `org.example.Lamp`.
    public var name: String
    /// The methods.
    public var methods: [DBusMethod]
    /// The properties.
    public var properties: [DBusProperty]
    /// The signals that the object may send. Used for introspection only.
    public var signals: [DBusSignalDescription]

    /// Creates an interface. ``DBusConnection/export(_:)`` validates the names.
    public init(
        _ name: String, methods: [DBusMethod] = [], properties: [DBusProperty] = [],
        signals: [DBusSignalDescription] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    /// Reads all readable properties. A property that can't be read at the moment is left out.
    func readProperties() async -> [String: DBusValue] {
        var values: [String: DBusValue] = [:]
        for property in properties {
            if let read = property.read, let value = try? await read() { values[property.name] = value }
        }
        return values
    }
}

/// An argument of a method or a signal.
public struct DBusArgument: Sendable, Hashable {
    /// The name in the introspection document, for people.
    public var name: String
    /// The signature of a single type.
    public var signature: DBusSignature

    /// Creates an argument.
    public init(_ name: String, _ signature: DBusSignature) {
        self.name = name
        self.signature = signature
    }
}

/// A method of an interface.
public struct DBusMethod: Sendable {
    /// Handles a call, and returns the values of the method's outputs.
    ///
    /// The handler starts on the loop's thread, but may continue on another. Handlers start in the order of the calls;
    /// while one handler is suspended, the next can start.
    ///
    /// If the handler throws a ``DBusError`` with a name, the reply is an error with this name; for any other error the
    /// name is ``DBusErrorName/failed``. The task of the handler is cancelled when the connection ends.
    public typealias Handler = @Sendable (DBusMethodCall) async throws -> [DBusValue]

    /// The name of the method.
    public var name: String
    /// The arguments of a call. The module answers a call whose arguments have other types with an error.
    public var inputs: [DBusArgument]
    /// The values of a reply. If the handler returns values of other types, the module sends an error instead.
    public var outputs: [DBusArgument]
    /// Handles the calls.
    public var handler: Handler

    /// Creates a method.
    public init(
        _ name: String, inputs: [DBusArgument] = [], outputs: [DBusArgument] = [], handler: @escaping Handler
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.handler = handler
    }
}

/// A received method call.
public struct DBusMethodCall: Sendable, Hashable {
    /// The unique name of the caller; empty if the message has no sender.
    public var sender: String
    /// The called object.
    public var path: ObjectPath
    /// The interface of the method; empty if the caller named none.
    public var interface: String
    /// The name of the method.
    public var member: String
    /// The arguments, of the types of the method's inputs.
    public var arguments: [DBusValue]
}

/// A property of an interface.
public struct DBusProperty: Sendable {
    /// The notification policy for changes, for introspection. The program itself sends the notifications, with
    /// ``DBusConnection/emitPropertiesChanged(_:_:_:invalidated:)``.
    public enum ChangeNotice: String, Sendable, Hashable {
        /// Changes are notified with the new value.
        case value = "true"
        /// Changes are notified without the new value.
        case invalidation = "invalidates"
        /// The property never changes.
        case constant = "const"
        /// Changes are not notified.
        case none = "false"
    }

    /// The name of the property.
    public var name: String
    /// The signature of a single type.
    public var signature: DBusSignature
    /// The notification policy for changes.
    public var changeNotice: ChangeNotice
    /// Reads the value, called like a ``DBusMethod/Handler``; nil for a write-only property. If the closure throws, the
    /// reply to `Get` is an error, and the reply to `GetAll` lacks the property.
    public var read: (@Sendable () async throws -> DBusValue)?
    /// Writes a value of the property's type, called like a ``DBusMethod/Handler``; nil for a read-only property.
    public var write: (@Sendable (DBusValue) async throws -> Void)?

    /// Creates a property.
    public init(
        _ name: String, _ signature: DBusSignature, changeNotice: ChangeNotice = .value,
        read: (@Sendable () async throws -> DBusValue)?, write: (@Sendable (DBusValue) async throws -> Void)? = nil
    ) {
        self.name = name
        self.signature = signature
        self.changeNotice = changeNotice
        self.read = read
        self.write = write
    }
}

/// The description of a signal that an object may send.
public struct DBusSignalDescription: Sendable, Hashable {
    /// The name of the signal.
    public var name: String
    /// The arguments of the signal.
    public var arguments: [DBusArgument]

    /// Creates a description.
    public init(_ name: String, _ arguments: [DBusArgument] = []) {
        self.name = name
        self.arguments = arguments
    }
}
