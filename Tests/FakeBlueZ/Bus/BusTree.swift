internal import DBus

/// The exported objects, which the object manager at `/` lists.
@Radio
final class BusTree {
    let connection: DBusConnection
    private var objects: [ObjectPath: BusObject] = [:]

    init(_ connection: DBusConnection) { self.connection = connection }

    /// Exports the object manager.
    func publish() async throws {
        let objects = DBusArgument("objects", "a{oa{sa{sv}}}")
        let manager = DBusInterface(
            BlueZName.objectManager,
            methods: [
                DBusMethod("GetManagedObjects", outputs: [objects]) { [weak self] _ in
                    [await self?.managedObjects ?? .dictionary(DBusDictionary(keys: "o", values: "a{sa{sv}}", []))]
                }
            ])
        try await connection.export(DBusObject(.root, [manager]))
    }

    private var managedObjects: DBusValue {
        let entries = objects.values.sorted { $0.path.text < $1.path.text }.map { object in
            DBusDictionary.Entry(.objectPath(object.path), Self.value(of: object.interfaces))
        }
        return .dictionary(DBusDictionary(keys: "o", values: "a{sa{sv}}", entries))
    }

    /// Interfaces with their properties, as `a{sa{sv}}`.
    private static func value(of interfaces: [LiveInterface]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keys: "s", values: "a{sv}",
                interfaces.map { DBusDictionary.Entry(.string($0.name), .properties($0.present)) }))
    }

    /// Signals that an object has gained interfaces.
    func tell(_ object: BusObject, gained interfaces: [LiveInterface]) {
        objects[object.path] = object
        emit("InterfacesAdded", [.objectPath(object.path), Self.value(of: interfaces)])
    }

    func tell(_ object: BusObject, lost interfaces: [LiveInterface]) {
        guard objects.removeValue(forKey: object.path) != nil else { return }
        emit("InterfacesRemoved", [.objectPath(object.path), .strings(interfaces.map(\.name))])
    }

    private func emit(_ member: String, _ arguments: [DBusValue]) {
        connection.assumeIsolated { _ = try? $0.emitSignal(.root, BlueZName.objectManager, member, arguments) }
    }
}
