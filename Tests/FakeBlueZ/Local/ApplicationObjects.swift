internal import DBus

/// The reply of an application's object manager: services, characteristics and descriptors, in order.
struct ApplicationObjects {
    struct Attribute {
        let path: ObjectPath
        let parent: ObjectPath?
        let uuid: String
        let properties: [String: DBusValue]

        var isPrimary: Bool { properties["Primary"]?.boolean ?? true }
        /// The flags without their security prefixes.
        var flags: [RadioCharacteristic.Flag] {
            let words = (properties["Flags"]?.strings ?? []).map { $0.split(separator: "-") }
            let plain = words.map { words in
                words.drop { ["encrypt", "authenticated", "secure"].contains($0) }.joined(separator: "-")
            }
            return RadioCharacteristic.Flag.allCases.filter { plain.contains($0.rawValue) }
        }
        var needsPairing: Bool {
            (properties["Flags"]?.strings ?? []).contains { $0.hasPrefix("encrypt") || $0.hasPrefix("secure") }
        }
    }

    let services: [Attribute]
    private let characteristics: [Attribute]
    private let descriptors: [Attribute]

    init(_ objects: [DBusDictionary.Entry]) {
        func attributes(_ interface: String, parent: String?) -> [Attribute] {
            objects.compactMap { object in
                guard let path = object.key.objectPath,
                    let properties = object.value.properties?[interface]?.properties,
                    let uuid = properties["UUID"]?.string
                else { return nil }
                return Attribute(
                    path: path, parent: parent.flatMap { properties[$0]?.objectPath }, uuid: uuid,
                    properties: properties)
            }
        }
        services = attributes(BlueZName.gattService, parent: nil)
        characteristics = attributes(BlueZName.characteristic, parent: "Service")
        descriptors = attributes(BlueZName.descriptor, parent: "Characteristic")
    }

    func characteristics(of service: ObjectPath) -> [Attribute] { characteristics.filter { $0.parent == service } }
    func descriptors(of characteristic: ObjectPath) -> [Attribute] {
        descriptors.filter { $0.parent == characteristic }
    }
}
