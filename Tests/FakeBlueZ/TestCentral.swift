internal import DBus
public import TestSupport

/// A client of org.bluez for tests, in the central role. It finds one device by its address, connects, and uses its
/// characteristics.
public final class TestCentral: Sendable {
    /// The content of the signals received so far.
    public struct Notes: Sendable {
        /// The notified values that ``hears(_:of:)`` has not taken, by the characteristic's UUID.
        public var values: [String: [[UInt8]]] = [:]
        var properties: [ObjectPath: [String: DBusValue]] = [:]
    }

    public let notes = Watched(Notes())
    private let connection: DBusConnection
    private let adapter: ObjectPath
    private let device: ObjectPath
    private let subscriptions: [DBusSubscription]

    /// Creates a central.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - adapter: The name of the adapter that the central uses.
    ///   - device: The Bluetooth address of the device.
    public init(on address: String, adapter: String = "hci0", for device: String) async throws {
        connection = try await DBusConnection.open(.address(address), on: Radio.loop)
        let path = "/org/bluez/\(adapter)"
        self.adapter = ObjectPath(path) ?? .root
        self.device = ObjectPath("\(path)/dev_\(String(device.map { $0 == ":" ? "_" : $0 }))") ?? .root
        var subscriptions: [DBusSubscription] = []
        for rule in [
            DBusMatchRule(sender: BlueZName.service, interface: "org.freedesktop.DBus.ObjectManager"),
            DBusMatchRule.propertiesChanged(sender: BlueZName.service),
        ] {
            let handler: @Sendable (DBusMessage) -> Void = { [notes] message in
                guard let signal = DBusSignal(message) else { return }
                notes.update { Self.take(signal, &$0) }
            }
            subscriptions.append(try await connection.handleSignals(matching: rule, handler))
        }
        self.subscriptions = subscriptions
    }

    public func close() async { await connection.close() }

    private static func take(_ signal: DBusSignal, _ notes: inout Notes) {
        switch signal.member {
        case "InterfacesAdded":
            guard let path = signal.arguments[0].objectPath else { return }
            for (_, properties) in signal.arguments[1].properties ?? [:] {
                notes.properties[path, default: [:]].merge(properties.properties ?? [:]) { $1 }
            }
        case "InterfacesRemoved": signal.arguments[0].objectPath.map { notes.properties[$0] = nil }
        // `PropertiesChanged`: the interface, the changed properties, the names of the invalidated ones.
        default:
            let changed = signal.arguments[1].properties ?? [:]
            notes.properties[signal.path, default: [:]].merge(changed) { $1 }
            for name in signal.arguments[2].strings ?? [] { notes.properties[signal.path]?[name] = nil }
            guard let value = changed["Value"]?.bytes, let uuid = notes.properties[signal.path]?["UUID"]?.string
            else { return }
            notes.values[uuid, default: []].append(value)
        }
    }

    // MARK: The device

    /// Scans until the device is heard, and returns its name.
    public func find() async throws -> String? {
        try await call(adapter, "Adapter1", "StartDiscovery")
        let name = try await notes.wait(for: "the device") { [device] notes in
            notes.properties[device].flatMap { $0["RSSI"] == nil ? nil : $0["Name"]?.string }
        }
        try await call(adapter, "Adapter1", "StopDiscovery")
        return name
    }

    /// Scans until the device is no longer heard.
    public func losesSight() async throws {
        try await call(adapter, "Adapter1", "StartDiscovery")
        _ = try await notes.wait(for: "silence") { [device] in $0.properties[device]?["RSSI"] == nil ? true : nil }
        try await call(adapter, "Adapter1", "StopDiscovery")
    }

    /// Connects, and waits until the services are resolved.
    public func connect() async throws {
        try await call(device, "Device1", "Connect")
        try await waitForDevice("ServicesResolved", true)
    }

    public func disconnect() async throws { try await call(device, "Device1", "Disconnect") }

    /// Waits until the device is no longer connected.
    public func isHungUpOn() async throws { try await waitForDevice("Connected", false) }

    private func waitForDevice(_ property: String, _ wanted: Bool) async throws {
        _ = try await notes.wait(for: "\(property) \(wanted)") { [device] notes in
            notes.properties[device]?[property]?.boolean == wanted ? true : nil
        }
    }

    // MARK: Characteristics

    public func read(_ uuid: String, offset: UInt16 = 0) async throws -> [UInt8] {
        let options: [String: DBusValue] = offset == 0 ? [:] : ["offset": .uint16(offset)]
        return try await call(path(uuid), "GattCharacteristic1", "ReadValue", [.properties(options)]).first?.bytes ?? []
    }

    /// - Parameter type: `request` for a write with response, `command` for one without.
    public func write(
        _ bytes: [UInt8], to uuid: String, type: String = "request", offset: UInt16 = 0
    ) async throws {
        var options: [String: DBusValue] = ["type": .string(type)]
        if offset > 0 { options["offset"] = .uint16(offset) }
        try await call(path(uuid), "GattCharacteristic1", "WriteValue", [.bytes(bytes), .properties(options)])
    }

    public func subscribe(_ uuid: String) async throws {
        try await call(path(uuid), "GattCharacteristic1", "StartNotify")
    }

    public func unsubscribe(_ uuid: String) async throws {
        try await call(path(uuid), "GattCharacteristic1", "StopNotify")
    }

    /// The characteristic's flags.
    public func flags(_ uuid: String) async throws -> [String] {
        let path = try await path(uuid)
        return notes.state.properties[path]?["Flags"]?.strings ?? []
    }

    /// Waits for at least `count` bytes of a characteristic; takes and returns all of its values so far.
    public func hears(_ count: Int, of uuid: String) async throws -> [[UInt8]] {
        try await notes.wait(for: "\(count) bytes of \(uuid)") { notes in
            let values = notes.values[longUUID(uuid)] ?? []
            guard values.joined().count >= count else { return nil }
            notes.values[longUUID(uuid)] = nil
            return values
        }
    }

    /// Waits until the values of a characteristic end with `end`; takes them all and returns them as one text.
    public func hears(_ end: String, of uuid: String) async throws -> String {
        try await notes.wait(for: "\(end) of \(uuid)") { notes in
            let values = notes.values[longUUID(uuid)] ?? []
            // Compares only the last bytes: a long text arrives in hundreds of values, and each arrival repeats the
            // comparison.
            var tail: [UInt8] = []
            for value in values.reversed() where tail.count < end.utf8.count { tail = value + tail }
            guard tail.suffix(end.utf8.count).elementsEqual(end.utf8) else { return nil }
            notes.values[longUUID(uuid)] = nil
            return String(decoding: values.joined(), as: UTF8.self)
        }
    }

    private func path(_ uuid: String) async throws -> ObjectPath {
        try await notes.wait(for: uuid) { [device] notes in
            notes.properties.first { path, properties in
                path.isWithin(device) && properties["UUID"]?.string == longUUID(uuid) && properties["Flags"] != nil
            }?.key
        }
    }

    @discardableResult
    private func call(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) async throws -> [DBusValue] {
        try await connection.call(
            DBusCall(to: BlueZName.service, path, "org.bluez.\(interface)", member, arguments), timeout: nil)
    }
}
