internal import DBus

/// A service of a known device: the object `GattService1`, and its characteristics.
@Radio
final class KnownService {
    let radio: RadioService
    let characteristics: [KnownCharacteristic]
    /// The highest ATT handle of the service and its characteristics.
    let lastHandle: Int
    private let object: BusObject

    init(_ radio: RadioService, of device: KnownDevice, handle: Int, in tree: BusTree) {
        self.radio = radio
        let path = handlePath(device.path, "service", handle)
        object = BusObject(
            path,
            [
                LiveInterface(
                    BlueZName.gattService,
                    properties: [
                        .init("UUID", "s"), .init("Primary", "b"), .init("Device", "o"), .init("Includes", "ao"),
                    ],
                    [
                        "UUID": .string(radio.uuid), "Primary": .boolean(radio.isPrimary),
                        "Device": .objectPath(device.path), "Includes": .objectPaths([]),
                    ])
            ], in: tree)
        var next = handle + 1
        var characteristics: [KnownCharacteristic] = []
        for characteristic in radio.characteristics {
            let known = KnownCharacteristic(
                characteristic, of: device, service: (path, radio.uuid), handle: next, in: tree)
            next = known.lastHandle + 1
            characteristics.append(known)
        }
        self.characteristics = characteristics
        lastHandle = next - 1
    }

    /// The objects of the service and of its characteristics.
    var objects: [BusObject] { [object] + characteristics.flatMap(\.objects) }

    func withdraw() {
        for characteristic in characteristics { characteristic.withdraw() }
        object.withdraw()
    }
}

/// The path of an attribute's object, which bluetoothd derives from its handle.
func handlePath(_ parent: ObjectPath, _ kind: String, _ handle: Int) -> ObjectPath {
    let digits = String(handle, radix: 16)
    return parent.appending(kind + String(repeating: "0", count: max(0, 4 - digits.count)) + digits) ?? parent
}
