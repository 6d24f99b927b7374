internal import DBus

/// An object of the fake's on the bus, which tells of its changes.
///
/// On a connection that is gone nobody is left to be told.
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

    /// Puts the object on the bus; clients are told.
    func publish() async { await Self.publish([self]) }

    /// Puts objects on the bus; clients are told of all of them at once.
    static func publish(_ objects: [BusObject]) async {
        let new = objects.filter { !$0.isPublished }
        for object in new {
            object.isPublished = true
            await object.export()
        }
        for object in new {
            // It may have been withdrawn before it was there.
            if object.isPublished { object.tree.tell(object, gained: object.interfaces) } else { object.unexport() }
        }
    }

    /// Gives the object more interfaces; clients are told of those.
    func add(_ more: [LiveInterface]) async {
        interfaces += more
        guard isPublished else { return }
        unexport()
        await export()
        if isPublished { tree.tell(self, gained: more) } else { unexport() }
    }

    /// Takes the object off the bus; clients are told.
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

    /// Changes a property, or with nil takes it away. Clients are told if that makes a difference.
    func set(_ name: String, of interface: String, to value: DBusValue?) {
        guard let live = live(interface), live[name] != value else { return }
        live[name] = value
        tell(name, of: interface, value)
    }

    /// Changes a property of which clients are not told.
    func silently(set name: String, of interface: String, to value: DBusValue?) { live(interface)?[name] = value }

    /// Gives a property a value, and tells clients even if it is the one that it had.
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
