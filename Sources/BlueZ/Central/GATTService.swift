internal import DBus

/// A service of a device to which this computer connects. A service that this computer offers is a ``LocalService``.
public struct GATTService: Sendable, Hashable {
    /// The UUID of the service.
    public let uuid: BluetoothUUID
    /// The characteristics in the order of the device's attribute table.
    public let characteristics: [GATTCharacteristic]
}

/// A characteristic of a device to which this computer connects. A characteristic that this computer offers is a
/// ``LocalCharacteristic``.
public struct GATTCharacteristic: Sendable, Hashable {
    /// The operations that a characteristic supports.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt8
        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The value can be read.
        public static let read = Flags(rawValue: 1)
        /// The value can be written, and the device confirms the write.
        public static let write = Flags(rawValue: 2)
        /// The value can be written without confirmation.
        public static let writeWithoutResponse = Flags(rawValue: 4)
        /// The device can notify the value.
        public static let notify = Flags(rawValue: 8)
        /// The device can indicate the value, and this computer confirms each indication.
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

    /// The UUID of the characteristic.
    public let uuid: BluetoothUUID
    /// The service of the characteristic.
    public let service: BluetoothUUID
    /// The operations that the characteristic supports.
    public let flags: Flags
    /// All flags in bluetoothd's notation, such as `read`; also flags without a member in ``Flags``, such as
    /// `encrypt-write`.
    public let flagWords: [String]
    /// The descriptors in the order of the device's attribute table.
    public let descriptors: [BluetoothUUID]
    let path: ObjectPath
    /// The Client Characteristic Configuration, to which a central writes its subscription; nil if there is none.
    /// ``ConnectedDevice/confirmConnection()`` reads it, because reading this descriptor changes nothing and is always
    /// permitted (Bluetooth Core 5.3, Vol 3, Part G, 3.3.3.3).
    let configuration: ObjectPath?

    /// The handle of the declaration, which is part of bluetoothd's object path: 0x12 for `…/service0010/char0012`. nil
    /// if the path has another form.
    public var handle: UInt16? {
        let prefix = "char"
        guard let name = path.text.split(separator: "/").last, name.hasPrefix(prefix) else { return nil }
        return UInt16(name.dropFirst(prefix.count), radix: 16)
    }
}

extension ObjectMirror {
    /// Returns the services of a device with their characteristics.
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
