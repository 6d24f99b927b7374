internal import DBus

/// A copy of bluetoothd's objects.
///
/// The copy is updated from the reply to GetManagedObjects and from signals, in the order in which the bus delivers
/// them. Malformed arguments are ignored.
struct ObjectMirror {
    typealias Properties = [String: DBusValue]

    /// The properties of each object, by interface.
    private(set) var objects: [ObjectPath: [String: Properties]] = [:]

    /// The properties of an interface of an object; nil if there is none.
    subscript(path: ObjectPath, interface: String) -> Properties? { objects[path]?[interface] }

    /// Returns the objects with an interface, sorted by their paths.
    func objects(with interface: String, below parent: ObjectPath? = nil) -> [(path: ObjectPath, Properties)] {
        objects.compactMap { path, interfaces in
            guard let properties = interfaces[interface], parent.map({ path.isWithin($0) }) ?? true else { return nil }
            return (path, properties)
        }.sorted { $0.0.text < $1.0.text }
    }

    /// Replaces all objects with a reply to `GetManagedObjects`: `a{oa{sa{sv}}}`.
    mutating func replace(with managed: DBusValue?) {
        objects = [:]
        for entry in managed?.dictionary?.entries ?? [] {
            guard let path = entry.key.objectPath else { continue }
            objects[path] = Self.interfaces(entry.value)
        }
    }

    /// Applies `InterfacesAdded`: `oa{sa{sv}}`. Returns the additions.
    mutating func add(_ arguments: [DBusValue]) -> [MirrorChange] {
        guard arguments.count == 2, let path = arguments[0].objectPath else { return [] }
        let added = Self.interfaces(arguments[1])
        objects[path, default: [:]].merge(added) { $1 }
        return added.keys.sorted().map { .added(path, $0) }
    }

    /// Applies `InterfacesRemoved`: `oas`. Returns the removals.
    mutating func remove(_ arguments: [DBusValue]) -> [MirrorChange] {
        guard arguments.count == 2, let path = arguments[0].objectPath else { return [] }
        var changes: [MirrorChange] = []
        for interface in (arguments[1].strings ?? []).sorted() {
            guard let properties = objects[path]?.removeValue(forKey: interface) else { continue }
            changes.append(.removed(path, interface, properties))
        }
        if objects[path]?.isEmpty == true { objects[path] = nil }
        return changes
    }

    /// Applies `PropertiesChanged`: `sa{sv}as`. Returns the change; nothing for an unknown object.
    mutating func change(_ path: ObjectPath, _ arguments: [DBusValue]) -> [MirrorChange] {
        guard arguments.count == 3, let interface = arguments[0].string, var changed = arguments[1].properties,
            objects[path]?[interface] != nil
        else { return [] }
        // Services are resolved only while the device is connected. If the device is a peripheral that this computer
        // offers through another adapter, bluetoothd 5.66 signals ServicesResolved but not Connected.
        if interface == BlueZName.device, changed["ServicesResolved"]?.boolean == true, changed["Connected"] == nil {
            changed["Connected"] = .boolean(true)
        }
        let invalidated = arguments[2].strings ?? []
        objects[path]?[interface]?.merge(changed) { $1 }
        for name in invalidated { objects[path]?[interface]?[name] = nil }
        return [.changed(path, interface, Set(changed.keys).union(invalidated))]
    }

    private static func interfaces(_ value: DBusValue) -> [String: Properties] {
        (value.properties ?? [:]).compactMapValues(\.properties)
    }
}

/// A change of bluetoothd's objects. In the names of the cases, the service is bluetoothd; a `String` is the name of an
/// interface.
enum MirrorChange: Equatable {
    /// The mirror now has all objects of bluetoothd, after being empty.
    case serviceCame
    /// bluetoothd has stopped, or the connection to the bus has ended, and the mirror is empty.
    case serviceWent
    /// An interface was added to an object.
    case added(ObjectPath, String)
    /// An interface was removed from an object. Contains the last properties.
    case removed(ObjectPath, String, ObjectMirror.Properties)
    /// Properties of an interface have changed. Contains their names.
    case changed(ObjectPath, String, Set<String>)
}
