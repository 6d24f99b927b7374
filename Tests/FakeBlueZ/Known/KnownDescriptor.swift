internal import DBus

/// A descriptor of a known device's characteristic: the object `GattDescriptor1`.
@Radio
final class KnownDescriptor {
    private let radio: RadioDescriptor
    private unowned let characteristic: KnownCharacteristic
    private let path: ObjectPath
    private let tree: BusTree
    private(set) lazy var object = BusObject(path, [descriptorInterface], in: tree)

    init(
        _ radio: RadioDescriptor, of characteristic: KnownCharacteristic, handle: Int, in tree: BusTree
    ) {
        self.radio = radio
        self.characteristic = characteristic
        self.tree = tree
        path = handlePath(characteristic.path, "desc", handle)
    }

    private var descriptorInterface: LiveInterface {
        let bluez = characteristic.device.bluez
        let options = DBusArgument("options", "a{sv}")
        let value = DBusArgument("value", "ay")
        return LiveInterface(
            BlueZName.descriptor,
            methods: [
                bluez.method("ReadValue", [options], [value]) { [self] _ in
                    [.bytes(try await characteristic.requireLink().read(radio))]
                },
                bluez.method("WriteValue", [value, options]) { [self] call in
                    _ = try characteristic.requireLink()
                    radio.value = call.arguments[0].bytes ?? []
                    return []
                },
            ],
            properties: [.init("UUID", "s"), .init("Characteristic", "o"), .init("Value", "ay")],
            [
                "UUID": .string(radio.uuid), "Characteristic": .objectPath(characteristic.path), "Value": .bytes([]),
            ])
    }
}
