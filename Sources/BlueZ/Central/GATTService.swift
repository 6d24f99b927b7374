internal import DBus

/// A service of a connected device.
public struct GATTService: Sendable, Hashable {
    public let uuid: BluetoothUUID
    /// In the order of their places in the device's table.
    public let characteristics: [GATTCharacteristic]
}

/// A characteristic of a connected device.
public struct GATTCharacteristic: Sendable, Hashable {
    /// What can be done with it.
    public struct Flags: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let read = Flags(rawValue: 1)
        /// Written, and the device confirms it.
        public static let write = Flags(rawValue: 2)
        public static let writeWithoutResponse = Flags(rawValue: 4)
        public static let notify = Flags(rawValue: 8)
        /// Told of, and this end confirms it.
        public static let indicate = Flags(rawValue: 16)

        init(_ words: [String]) {
            self = []
            for word in words { if let flag = Self.names[word] { insert(flag) } }
        }

        private static let names: [String: Flags] = [
            "read": .read, "write": .write, "write-without-response": .writeWithoutResponse, "notify": .notify,
            "indicate": .indicate,
        ]
    }

    public let uuid: BluetoothUUID
    /// The service that it belongs to.
    public let service: BluetoothUUID
    public let flags: Flags
    /// All that can be done with it, in bluetoothd's words, also what ``flags`` does not name: `read`, `encrypt-write`.
    public let flagWords: [String]
    /// Its descriptors, in the order of their places.
    public let descriptors: [BluetoothUUID]
    let path: ObjectPath
    /// Its Client Characteristic Configuration, in which a central subscribes; nil where it has none. It may always be read
    /// (Bluetooth Core 5.3, Vol 3, Part G, 3.3.3.3).
    let configuration: ObjectPath?

    /// The handle of its declaration, by which bluetoothd names its object: `18` of `…/service0010/char0012`. Nil where
    /// that name is another.
    public var handle: UInt16? {
        let prefix = "char"
        guard let name = path.text.split(separator: "/").last, name.hasPrefix(prefix) else { return nil }
        return UInt16(name.dropFirst(prefix.count), radix: 16)
    }
}

extension ObjectMirror {
    /// The services of a device, with what they hold.
    func services(of device: ObjectPath) -> [GATTService] {
        objects(with: BlueZName.gattService, below: device).compactMap { path, properties in
            guard let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else { return nil }
            let characteristics = objects(with: BlueZName.gattCharacteristic, below: path).compactMap {
                path, properties -> GATTCharacteristic? in
                guard let own = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else { return nil }
                let words = properties["Flags"]?.strings ?? []
                let descriptors = descriptors(of: path)
                return GATTCharacteristic(
                    uuid: own, service: uuid, flags: GATTCharacteristic.Flags(words), flagWords: words,
                    descriptors: descriptors.map(\.uuid), path: path,
                    configuration: descriptors.first { $0.uuid == BluetoothUUID(0x2902) }?.path)
            }
            return GATTService(uuid: uuid, characteristics: characteristics)
        }
    }

    private func descriptors(of characteristic: ObjectPath) -> [(uuid: BluetoothUUID, path: ObjectPath)] {
        objects(with: BlueZName.gattDescriptor, below: characteristic).compactMap { path, properties in
            properties["UUID"]?.string.flatMap { BluetoothUUID($0) }.map { ($0, path) }
        }
    }
}
