internal import DBus

/// The objects by which bluetoothd sees an offered peripheral, with their paths and D-Bus interfaces. bluetoothd calls
/// an object manager with services and characteristics below it an application.
struct ApplicationTree: Sendable {
    struct Characteristic: Sendable {
        let path: ObjectPath
        let service: ObjectPath
        let facts: LocalCharacteristic
    }

    let description: PeripheralDescription
    /// The path of the object manager from which bluetoothd reads the services.
    let application: ObjectPath
    /// The path of the advertisement. It is not below the application, since bluetoothd reads all objects there.
    let advertisement: ObjectPath
    let services: [(path: ObjectPath, facts: LocalService)]
    let characteristics: [Characteristic]

    /// Creates the tree and assigns the paths.
    ///
    /// - Parameter number: A number that distinguishes the peripherals of one connection.
    init(_ description: PeripheralDescription, number: UInt64) {
        self.description = description
        application = Self.path("/peripheral\(number)/application")
        advertisement = Self.path("/peripheral\(number)/advertisement")
        let application = application
        services = description.services.enumerated().map { index, service in
            (Self.path("\(application)/service\(index)"), service)
        }
        characteristics = services.flatMap { service in
            service.facts.characteristics.enumerated().map { index, facts in
                Characteristic(path: Self.path("\(service.path)/char\(index)"), service: service.path, facts: facts)
            }
        }
    }

    /// Creates a path. The text consists of letters, digits and slashes, so it is always valid.
    private static func path(_ text: String) -> ObjectPath { ObjectPath(text) ?? .root }

    func characteristic(_ uuid: BluetoothUUID) -> Characteristic? {
        characteristics.first { $0.facts.uuid == uuid }
    }

    /// The paths of all objects, children before their parents.
    var paths: [ObjectPath] {
        characteristics.map(\.path) + services.map(\.path) + [application, advertisement]
    }

    /// Returns all objects, children before their parents: exported in this order, the object manager comes after
    /// its children and sends no `InterfacesAdded` for them.
    func objects(of peripheral: Peripheral) -> [DBusObject] {
        let characteristics = characteristics.map { characteristic in
            DBusObject(characteristic.path, [Self.interface(of: characteristic, peripheral)])
        }
        let services = services.map { path, service in
            DBusObject(path, [Self.interface(of: service)])
        }
        return characteristics + services + [
            DBusObject(application, isObjectManager: true),
            DBusObject(advertisement, [advertisementInterface(of: peripheral)]),
        ]
    }

    private static func constant(_ name: String, _ value: DBusValue) -> DBusProperty {
        DBusProperty(name, value.signature, changeNotice: .constant, read: { value })
    }

    private static func interface(of service: LocalService) -> DBusInterface {
        DBusInterface(
            BlueZName.gattService,
            properties: [constant("UUID", .string(service.uuid.text)), constant("Primary", .boolean(true))])
    }

    /// Returns the interface of the advertisement. `Discoverable` sets the flag without which phones ignore an
    /// advertisement.
    private func advertisementInterface(of peripheral: Peripheral) -> DBusInterface {
        var properties = [
            Self.constant("Type", .string("peripheral")), Self.constant("Discoverable", .boolean(true)),
            Self.constant("ServiceUUIDs", .strings(description.advertisedServices.map(\.text))),
        ]
        if let name = description.name { properties.append(Self.constant("LocalName", .string(name))) }
        let release = DBusMethod("Release") { [weak peripheral] _ in
            await peripheral?.advertisementWasReleased()
            return []
        }
        return DBusInterface(BlueZName.advertisement, methods: [release], properties: properties)
    }

    private static func interface(of characteristic: Characteristic, _ peripheral: Peripheral) -> DBusInterface {
        let (facts, uuid) = (characteristic.facts, characteristic.facts.uuid)
        let options = DBusArgument("options", "a{sv}")
        let value = DBusArgument("value", "ay")
        var methods = [
            DBusMethod("ReadValue", inputs: [options], outputs: [value]) { [weak peripheral] call in
                guard let peripheral else { throw ATTError.failed.answer }
                return [.bytes(try await peripheral.read(facts, call.arguments[0].properties ?? [:]))]
            },
            DBusMethod("WriteValue", inputs: [value, options]) { [weak peripheral] call in
                guard let peripheral else { throw ATTError.failed.answer }
                try await peripheral.write(
                    call.arguments[0].bytes ?? [], to: facts, call.arguments[1].properties ?? [:])
                return []
            },
            DBusMethod("StartNotify") { [weak peripheral] _ in
                guard facts.tells else { throw ATTError.notSupported.answer }
                await peripheral?.setSubscribed(true, uuid)
                return []
            },
            DBusMethod("StopNotify") { [weak peripheral] _ in
                await peripheral?.setSubscribed(false, uuid)
                return []
            },
            // A central has confirmed an indication. The next indication does not wait for this.
            DBusMethod("Confirm") { _ in [] },
        ]
        var properties = [
            constant("UUID", .string(uuid.text)), constant("Service", .objectPath(characteristic.service)),
            constant("Flags", .strings(facts.flags.map(\.rawValue).sorted())),
            DBusProperty("Value", "ay") { [weak peripheral] in
                .bytes(await peripheral?.values[uuid] ?? [])
            },
            DBusProperty("Notifying", "b") { [weak peripheral] in
                .boolean(await peripheral?.subscribed.contains(uuid) ?? false)
            },
        ]
        if facts.delivery == .toEach {
            methods += AcquiredSockets.methods(of: facts, peripheral)
            properties += AcquiredSockets.properties(of: facts, peripheral)
        }
        return DBusInterface(BlueZName.gattCharacteristic, methods: methods, properties: properties)
    }
}
