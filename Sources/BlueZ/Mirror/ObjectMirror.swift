internal import DBus

/// The objects of bluetoothd, as it has told of them.
///
/// It is fed with the arguments of an answer to GetManagedObjects and of signals, in the order of the bus. What has
/// another form than it should is passed over.
struct ObjectMirror {
    typealias Properties = [String: DBusValue]

    private(set) var objects: [ObjectPath: [String: Properties]] = [:]

    /// The properties of an object's interface; nil where there is none.
    subscript(path: ObjectPath, interface: String) -> Properties? { objects[path]?[interface] }

    /// The objects that have an interface, sorted by their paths.
    func objects(with interface: String, below parent: ObjectPath? = nil) -> [(path: ObjectPath, Properties)] {
        objects.compactMap { path, interfaces in
            guard let properties = interfaces[interface], parent.map({ path.isWithin($0) }) ?? true else { return nil }
            return (path, properties)
        }.sorted { $0.0.text < $1.0.text }
    }

    /// Takes in all that there is: `a{oa{sa{sv}}}`.
    mutating func replace(with managed: DBusValue?) {
        objects = [:]
        for entry in managed?.dictionary?.entries ?? [] {
            guard let path = entry.key.objectPath else { continue }
            objects[path] = Self.interfaces(entry.value)
        }
    }

    /// Takes in `InterfacesAdded`: `oa{sa{sv}}`. Returns what there is now that was not.
    mutating func add(_ arguments: [DBusValue]) -> [MirrorChange] {
        guard arguments.count == 2, let path = arguments[0].objectPath else { return [] }
        let added = Self.interfaces(arguments[1])
        objects[path, default: [:]].merge(added) { $1 }
        return added.keys.sorted().map { .added(path, $0) }
    }

    /// Takes in `InterfacesRemoved`: `oas`. Returns what is gone.
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

    /// Takes in `PropertiesChanged`: `sa{sv}as`. Returns what has changed of an object that is known.
    mutating func change(_ path: ObjectPath, _ arguments: [DBusValue]) -> [MirrorChange] {
        guard arguments.count == 3, let interface = arguments[0].string, var changed = arguments[1].properties,
            objects[path]?[interface] != nil
        else { return [] }
        // Services are resolved on a connection only. Of a device that another adapter of its own plays, bluetoothd 5.66
        // tells that they are, and not that it is connected, although it has it so.
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

/// What has become of the objects of bluetoothd.
enum MirrorChange: Equatable {
    /// bluetoothd has come, and all there is is in the mirror.
    case serviceCame
    /// bluetoothd has gone, and nothing is left.
    case serviceWent
    case added(ObjectPath, String)
    /// With the properties that it had last.
    case removed(ObjectPath, String, ObjectMirror.Properties)
    /// With the names of the properties.
    case changed(ObjectPath, String, Set<String>)
}
