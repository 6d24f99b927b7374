import DBus
import TestSupport

/// A GATT application with one service and one characteristic, on its own D-Bus connection. It refuses a write of "no".
final class FakeApplication: Sendable {
    static let root: ObjectPath = "/app"
    static let advertisement: ObjectPath = "/advertisement"
    static let item: ObjectPath = "/app/service0/char0"
    let connection: DBusConnection
    /// The calls that bluetoothd has made: `read`, `write <text>`, `start` and `stop` (of notifications).
    let log = Watched<[String]>([])
    /// The options of bluetoothd's last call.
    let options = Watched<[String: DBusValue]>([:])

    init(_ bus: PrivateBus) async throws {
        connection = try await DBusConnection.open(.address(bus.address))
        try await connection.export(DBusObject(Self.root, isObjectManager: true))
        try await connection.export(
            DBusObject(
                "/app/service0",
                [
                    DBusInterface(
                        "org.bluez.GattService1",
                        properties: [
                            Self.constant("UUID", .string("6E400001-B5A3-F393-E0A9-E50E24DCCA9E")),
                            Self.constant("Primary", .boolean(true)),
                        ])
                ]))
        try await connection.export(DBusObject(Self.item, [characteristic()]))
    }

    func close() async { await connection.close() }

    private static func constant(_ name: String, _ value: DBusValue) -> DBusProperty {
        DBusProperty(name, value.signature, changeNotice: .constant, read: { value })
    }

    private func characteristic() -> DBusInterface {
        let options = DBusArgument("options", "a{sv}")
        let note = { @Sendable (text: String, arguments: DBusValue) in
            self.options.update { $0 = arguments.properties ?? [:] }
            self.log.update { $0.append(text) }
        }
        return DBusInterface(
            "org.bluez.GattCharacteristic1",
            methods: [
                DBusMethod("ReadValue", inputs: [options], outputs: [DBusArgument("value", "ay")]) { call in
                    note("read", call.arguments[0])
                    return [.text("hello")]
                },
                DBusMethod("WriteValue", inputs: [DBusArgument("value", "ay"), options]) { call in
                    let text = String(decoding: call.arguments[0].bytes ?? [], as: UTF8.self)
                    note("write \(text)", call.arguments[1])
                    if text == "no" { throw DBusError(answering: "org.bluez.Error.NotPermitted", "not that") }
                    return []
                },
                DBusMethod("StartNotify") { _ in
                    note("start", .noOptions)
                    return []
                },
                DBusMethod("StopNotify") { _ in
                    note("stop", .noOptions)
                    return []
                },
            ],
            properties: [
                Self.constant("UUID", .string("6E400003-B5A3-F393-E0A9-E50E24DCCA9E")),
                Self.constant("Service", .objectPath("/app/service0")),
                Self.constant("Flags", .strings(["read", "write", "write-without-response", "notify"])),
            ])
    }

    func register(on adapter: String = "hci1") async throws {
        try await call(adapter, "GattManager1", "RegisterApplication", Self.root)
    }

    /// Calls a method of an adapter's manager with the path of an object. A method that registers the object gets empty
    /// options, too.
    func call(_ adapter: String, _ interface: String, _ member: String, _ path: ObjectPath) async throws {
        guard let object = ObjectPath("/org/bluez/\(adapter)") else { return }
        try await connection.call(
            DBusCall(
                to: "org.bluez", object, "org.bluez.\(interface)", member,
                member.hasPrefix("Un") ? [.objectPath(path)] : [.objectPath(path), .noOptions]))
    }

    /// Exports an advertisement in place of the previous one, and registers it.
    func advertise(_ properties: [String: DBusValue], on adapter: String = "hci1") async throws {
        try await connection.unexport(Self.advertisement)
        try await connection.export(
            DBusObject(
                Self.advertisement,
                [
                    DBusInterface(
                        "org.bluez.LEAdvertisement1", properties: properties.map { Self.constant($0.key, $0.value) })
                ]))
        try await call(adapter, "LEAdvertisingManager1", "RegisterAdvertisement", Self.advertisement)
    }

    /// Signals a new value, of which bluetoothd notifies the subscribers.
    func say(_ text: String) async throws {
        try await connection.emitPropertiesChanged(
            Self.item, "org.bluez.GattCharacteristic1", ["Value": .text(text)])
    }

    /// Waits for an entry of ``log``; removes it and the entries before.
    func hears(_ text: String) async throws {
        _ = try await log.wait(for: text) { log in
            guard let index = log.firstIndex(of: text) else { return nil as Bool? }
            log.removeFirst(index + 1)
            return true
        }
    }
}
