internal import DBus
internal import Synchronization

/// An interface of an exported object, with properties that come, go and change.
final class LiveInterface: Sendable {
    /// A property's description without its value. Without `write`, clients can't set the property.
    struct Property: Sendable {
        let name: String
        let signature: DBusSignature
        var write: (@Sendable (DBusValue) async throws -> Void)?

        init(_ name: String, _ signature: DBusSignature, write: (@Sendable (DBusValue) async throws -> Void)? = nil) {
            self.name = name
            self.signature = signature
            self.write = write
        }
    }

    let name: String
    private let methods: [DBusMethod]
    private let properties: [Property]
    private let values: Mutex<[String: DBusValue]>

    init(
        _ name: String, methods: [DBusMethod] = [], properties: [Property] = [], _ values: [String: DBusValue] = [:]
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.values = Mutex(values)
    }

    /// A property's value; nil if the object does not have the property now.
    subscript(name: String) -> DBusValue? {
        get { values.withLock { $0[name] } }
        set { values.withLock { $0[name] = newValue } }
    }

    /// The properties that currently exist.
    var present: [String: DBusValue] { values.withLock { $0 } }

    /// The interface in exported form. Its properties change on the radio's loop and are read there without suspension,
    /// so that all values belong to the same moment.
    var exported: DBusInterface {
        let properties = properties.map { property in
            DBusProperty(
                property.name, property.signature,
                read: { [self] in
                    guard let value = self[property.name] else {
                        throw DBusError(answering: .unknownProperty, "No such property '\(property.name)'")
                    }
                    return value
                }, write: property.write)
        }
        return DBusInterface(name, methods: methods, properties: properties)
    }
}
