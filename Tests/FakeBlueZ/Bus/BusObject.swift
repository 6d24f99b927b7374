internal import DBus

/// An object of the fake's on the bus, which tells of its changes.
@Radio
final class BusObject {
    let path: ObjectPath
    private let connection: DBusConnection
    private var interfaces: [String: LiveInterface]
    private var isPublished = false

    init(_ path: ObjectPath, _ interfaces: [LiveInterface], on connection: DBusConnection) {
        self.path = path
        self.connection = connection
        self.interfaces = Dictionary(uniqueKeysWithValues: interfaces.map { ($0.name, $0) })
    }

    /// Puts the object on the bus; clients are told. On a connection that is gone nobody is left to be told.
    func publish() async {
        guard !isPublished else { return }
        isPublished = true
        let interfaces = interfaces.values.sorted { $0.name < $1.name }.map(\.exported)
        _ = try? await connection.export(DBusObject(path, interfaces))
        // It may have been withdrawn before it was there.
        if !isPublished { unexport() }
    }

    /// Takes the object off the bus; clients are told.
    func withdraw() {
        guard isPublished else { return }
        isPublished = false
        unexport()
        interfaces = [:]
    }

    private func unexport() { connection.assumeIsolated { [path] in _ = try? $0.unexport(path) } }

    func value(_ name: String, of interface: String) -> DBusValue? { interfaces[interface]?[name] }

    /// Changes a property, or with nil takes it away. Clients are told if that makes a difference.
    func set(_ name: String, of interface: String, to value: DBusValue?) {
        guard let live = interfaces[interface], live[name] != value else { return }
        live[name] = value
        tell(name, of: interface, value)
    }

    /// Changes a property of which clients are not told.
    func silently(set name: String, of interface: String, to value: DBusValue?) { interfaces[interface]?[name] = value }

    /// Gives a property a value, and tells clients even if it is the one that it had.
    func repeatedly(set name: String, of interface: String, to value: DBusValue) {
        guard let live = interfaces[interface] else { return }
        live[name] = value
        tell(name, of: interface, value)
    }

    private func tell(_ name: String, of interface: String, _ value: DBusValue?) {
        guard isPublished else { return }
        connection.assumeIsolated { [path] connection in
            let changed: [String: DBusValue] = value.map { [name: $0] } ?? [:]
            _ = try? connection.emitPropertiesChanged(
                path, interface, changed, invalidated: value == nil ? [name] : [])
        }
    }
}
