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
    let path: ObjectPath
    /// Its Client Characteristic Configuration, in which a central subscribes; nil where it has none. It may always be read
    /// (Bluetooth Core 5.3, Vol 3, Part G, 3.3.3.3).
    let configuration: ObjectPath?
}

extension ObjectMirror {
    /// The services of a device, with what they hold.
    func services(of device: ObjectPath) -> [GATTService] {
        objects(with: BlueZName.gattService, below: device).compactMap { path, properties in
            guard let uuid = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else { return nil }
            let characteristics = objects(with: BlueZName.gattCharacteristic, below: path).compactMap {
                path, properties -> GATTCharacteristic? in
                guard let own = properties["UUID"]?.string.flatMap({ BluetoothUUID($0) }) else { return nil }
                let flags = GATTCharacteristic.Flags(properties["Flags"]?.strings ?? [])
                return GATTCharacteristic(
                    uuid: own, service: uuid, flags: flags, path: path, configuration: configuration(of: path))
            }
            return GATTService(uuid: uuid, characteristics: characteristics)
        }
    }

    private func configuration(of characteristic: ObjectPath) -> ObjectPath? {
        objects(with: BlueZName.gattDescriptor, below: characteristic).first { _, properties in
            properties["UUID"]?.string.flatMap { BluetoothUUID($0) } == BluetoothUUID(0x2902)
        }?.path
    }
}
