internal import DBus

/// An object that the fake exports on the bus, and that signals its changes.
///
/// Signals on a closed connection are dropped.
@Radio
final class BusObject {
    let path: ObjectPath
    private(set) var interfaces: [LiveInterface]
    private let tree: BusTree
    private var isPublished = false

    init(_ path: ObjectPath, _ interfaces: [LiveInterface], in tree: BusTree) {
        self.path = path
        self.tree = tree
        self.interfaces = interfaces.sorted { $0.name < $1.name }
    }

    /// Exports the object and signals it to clients.
    func publish() async { await Self.publish([self]) }

    /// Exports several objects, and then signals all of them to clients.
    static func publish(_ objects: [BusObject]) async {
        let new = objects.filter { !$0.isPublished }
        for object in new {
            object.isPublished = true
            await object.export()
        }
        for object in new {
            // The object may have been withdrawn during the export.
            if object.isPublished { object.tree.tell(object, gained: object.interfaces) } else { object.unexport() }
        }
    }

    /// Adds interfaces to the object and signals them to clients.
    func add(_ more: [LiveInterface]) async {
        interfaces += more
        guard isPublished else { return }
        unexport()
        await export()
        if isPublished { tree.tell(self, gained: more) } else { unexport() }
    }

    /// Removes the object from the bus and signals the removal.
    func withdraw() {
        guard isPublished else { return }
        isPublished = false
        unexport()
        tree.tell(self, lost: interfaces)
        interfaces = []
    }

    private func export() async {
        _ = try? await tree.connection.export(DBusObject(path, interfaces.map(\.exported)))
    }

    private func unexport() { tree.connection.assumeIsolated { [path] in _ = try? $0.unexport(path) } }

    // MARK: Properties

    private func live(_ interface: String) -> LiveInterface? { interfaces.first { $0.name == interface } }

    func value(_ name: String, of interface: String) -> DBusValue? { live(interface)?[name] }

    /// Sets a property, or removes it if `value` is nil. Signals only a real change.
    func set(_ name: String, of interface: String, to value: DBusValue?) {
        guard let live = live(interface), live[name] != value else { return }
        live[name] = value
        tell(name, of: interface, value)
    }

    /// Sets a property without a signal.
    func silently(set name: String, of interface: String, to value: DBusValue?) { live(interface)?[name] = value }

    /// Sets a property, and signals it even if the value is the same as before.
    func repeatedly(set name: String, of interface: String, to value: DBusValue) {
        guard let live = live(interface) else { return }
        live[name] = value
        tell(name, of: interface, value)
    }

    private func tell(_ name: String, of interface: String, _ value: DBusValue?) {
        guard isPublished else { return }
        tree.connection.assumeIsolated { [path] connection in
            let changed: [String: DBusValue] = value.map { [name: $0] } ?? [:]
            _ = try? connection.emitPropertiesChanged(
                path, interface, changed, invalidated: value == nil ? [name] : [])
        }
    }
}
