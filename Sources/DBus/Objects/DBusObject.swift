/// An object that other programs may call: what it can do, as data and closures.
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
/// Introspection, properties, the object manager and the peer interface are answered by the room itself.
public struct DBusObject: Sendable {
    public var path: ObjectPath
    public var interfaces: [DBusInterface]
    /// Whether the object tells of those below it, as `org.freedesktop.DBus.ObjectManager`.
    public var isObjectManager: Bool

    public init(_ path: ObjectPath, _ interfaces: [DBusInterface] = [], isObjectManager: Bool = false) {
        self.path = path
        self.interfaces = interfaces
        self.isObjectManager = isObjectManager
    }

    func interface(_ name: String) -> DBusInterface? { interfaces.first { $0.name == name } }
}

/// What belongs together of an object's methods, properties and signals.
public struct DBusInterface: Sendable {
    /// As `org.example.Lamp`.
    public var name: String
    public var methods: [DBusMethod]
    public var properties: [DBusProperty]
    /// What the object may send; for introspection.
    public var signals: [DBusSignalDescription]

    public init(
        _ name: String, methods: [DBusMethod] = [], properties: [DBusProperty] = [],
        signals: [DBusSignalDescription] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }

    /// What can be read, with its values; a property whose reading fails is left out.
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
    /// For people.
    public var name: String
    /// One type.
    public var signature: DBusSignature

    public init(_ name: String, _ signature: DBusSignature) {
        self.name = name
        self.signature = signature
    }
}

/// A method.
public struct DBusMethod: Sendable {
    /// Carries out a call, on the loop's thread unless it goes elsewhere. Calls begin in the order in which they come;
    /// one that waits lets the next begin.
    ///
    /// It returns the values of the method's outputs. A ``DBusError`` with a name is answered by that name, any other
    /// error as ``DBusErrorName/failed``. When the connection ends, its task is cancelled.
    public typealias Handler = @Sendable (DBusMethodCall) async throws -> [DBusValue]

    public var name: String
    public var inputs: [DBusArgument]
    public var outputs: [DBusArgument]
    public var handler: Handler

    public init(
        _ name: String, inputs: [DBusArgument] = [], outputs: [DBusArgument] = [], handler: @escaping Handler
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.handler = handler
    }
}

/// A call that has arrived.
public struct DBusMethodCall: Sendable, Hashable {
    /// The unique name of who calls.
    public var sender: String
    public var path: ObjectPath
    public var interface: String
    public var member: String
    /// Of the types that the method's inputs name.
    public var arguments: [DBusValue]
}

/// A property.
public struct DBusProperty: Sendable {
    /// Whether a change is told; for introspection. The telling is
    /// ``DBusConnection/emitPropertiesChanged(_:_:_:invalidated:)``.
    public enum ChangeNotice: String, Sendable, Hashable {
        /// With the new value.
        case value = "true"
        /// Without it.
        case invalidation = "invalidates"
        /// It never changes.
        case constant = "const"
        /// Changes are not told.
        case none = "false"
    }

    public var name: String
    /// One type.
    public var signature: DBusSignature
    public var changeNotice: ChangeNotice
    /// Gives the value; nil where it can't be read.
    public var read: (@Sendable () async throws -> DBusValue)?
    /// Takes a value of the property's type; nil where it can't be written.
    public var write: (@Sendable (DBusValue) async throws -> Void)?

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

/// A signal that an object may send.
public struct DBusSignalDescription: Sendable, Hashable {
    public var name: String
    public var arguments: [DBusArgument]

    public init(_ name: String, _ arguments: [DBusArgument] = []) {
        self.name = name
        self.arguments = arguments
    }
}
