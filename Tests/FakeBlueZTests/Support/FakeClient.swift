import DBus
import DescriptorIO
import TestSupport

/// A client of org.bluez that records its signals as lines of text, and the properties that these signals report.
final class FakeClient: Sendable {
    /// The content of the received signals.
    struct Heard: Sendable {
        /// Lines such as `+ hci0/dev_X Device1`, `- hci0/dev_X`, `hci0 Powered=false`, `hci0/dev_X -RSSI`.
        var lines: [String] = []
        /// The signalled values of all characteristics.
        var values: [[UInt8]] = []
        /// The present properties by path and name, such as `hci0/dev_X RSSI`.
        var properties: [String: DBusValue] = [:]
    }

    static let hci0: ObjectPath = "/org/bluez/hci0"
    let connection: DBusConnection
    let heard = Watched(Heard())
    private let subscriptions: [DBusSubscription]

    init(_ bus: PrivateBus) async throws {
        connection = try await DBusConnection.open(.address(bus.address))
        var subscriptions: [DBusSubscription] = []
        for rule in [
            DBusMatchRule(sender: "org.bluez", interface: "org.freedesktop.DBus.ObjectManager"),
            DBusMatchRule.propertiesChanged(sender: "org.bluez"),
        ] {
            subscriptions.append(
                try await connection.handleSignals(matching: rule) { [heard] message in
                    guard let signal = DBusSignal(message) else { return }
                    heard.update { Self.take(signal, into: &$0) }
                })
        }
        self.subscriptions = subscriptions
    }

    func close() async { await connection.close() }

    // MARK: Hearing

    private static func take(_ signal: DBusSignal, into heard: inout Heard) {
        switch signal.member {
        case "InterfacesAdded":
            let path = short(signal.arguments[0].objectPath?.text ?? "")
            for (interface, value) in signal.arguments[1].properties ?? [:] {
                heard.lines.append("+ \(path) \(word(interface))")
                for (name, value) in value.properties ?? [:] { heard.properties["\(path) \(name)"] = value }
            }
        case "InterfacesRemoved":
            let path = short(signal.arguments[0].objectPath?.text ?? "")
            heard.lines.append("- \(path)")
            heard.properties = heard.properties.filter { !$0.key.hasPrefix(path + " ") }
        // `PropertiesChanged`: the interface, the changed properties, the names of the invalidated ones.
        default:
            let path = short(signal.path.text)
            for (name, value) in signal.arguments[1].properties ?? [:] {
                heard.properties["\(path) \(name)"] = value
                if name == "Value", let bytes = value.bytes { heard.values.append(bytes) }
                heard.lines.append("\(path) \(name)=\(text(value))")
            }
            for name in signal.arguments[2].strings ?? [] {
                heard.properties["\(path) \(name)"] = nil
                heard.lines.append("\(path) -\(name)")
            }
        }
    }

    private static func text(_ value: DBusValue) -> String {
        if let value = value.boolean { return "\(value)" }
        if let value = value.integer { return "\(value)" }
        if let value = value.string { return value }
        if let value = value.bytes { return String(decoding: value, as: UTF8.self) }
        if let value = value.strings { return value.joined(separator: ",") }
        return "…"
    }

    private static func word(_ interface: String) -> String {
        interface.split(separator: ".").last.map(String.init) ?? interface
    }

    private static func short(_ path: String) -> String {
        path.hasPrefix("/org/bluez/") ? String(path.dropFirst(11)) : path
    }

    /// Waits for a line; discards this line and the lines before.
    func hears(_ line: String) async throws {
        _ = try await heard.wait(for: line) { heard in
            guard let index = heard.lines.firstIndex(of: line) else { return nil as Bool? }
            heard.lines.removeFirst(index + 1)
            return true
        }
    }

    /// Returns and discards the lines so far, after all signals that org.bluez has sent until now have arrived.
    func linesSoFar() async throws -> [String] {
        try await settle()
        return heard.update { heard in
            defer { heard.lines = [] }
            return heard.lines
        }
    }

    /// Waits until all earlier messages of org.bluez have arrived.
    func settle() async throws {
        try await connection.call(
            DBusCall(to: "org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping"))
    }

    /// Waits until the received values contain `part` as text; returns and clears all of them.
    func hears(text part: String) async throws -> String {
        try await heard.wait(for: part) { heard in
            let text = String(decoding: heard.values.joined(), as: UTF8.self)
            guard text.contains(part) else { return nil }
            heard.values = []
            return text
        }
    }

    // MARK: Calling

    /// Calls a method of bluetoothd.
    ///
    /// - Parameters:
    ///   - path: The object's path below `/org/bluez`; empty for `/org/bluez` itself.
    ///   - interface: The interface without `org.bluez.`.
    @discardableResult
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) async throws -> [DBusValue] {
        guard let object = ObjectPath("/org/bluez" + (path.isEmpty ? "" : "/\(path)")) else { return [] }
        return try await connection.call(
            DBusCall(to: "org.bluez", object, "org.bluez.\(interface)", member, arguments), timeout: nil)
    }

    /// Returns a call's error: the last word of its name, and its text; "done" if the call succeeds.
    func failure(
        _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
    ) async -> String {
        do {
            try await call(path, interface, member, arguments)
            return "done"
        } catch let error as DBusError {
            let name = error.name?.text.split(separator: ".").last.map(String.init) ?? "\(error.code)"
            return "\(name): \(error.message ?? "")"
        } catch {
            return "\(error)"
        }
    }

    /// Reads a property, with the path and the interface as in ``call(_:_:_:_:)``.
    func property(_ path: String, _ interface: String, _ name: String) async throws -> DBusValue {
        guard let object = ObjectPath("/org/bluez/\(path)") else { return .boolean(false) }
        return try await connection.property(name, of: "org.bluez.\(interface)", at: object, of: "org.bluez")
    }

    /// The paths of the present objects, without `/org/bluez/`.
    func objects() async throws -> [String] {
        let reply = try await connection.call(
            DBusCall(to: "org.bluez", "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
        return (reply.first?.dictionary?.entries ?? []).compactMap { $0.key.objectPath.map { Self.short($0.text) } }
    }
}

extension DBusValue {
    static let noOptions = DBusValue.properties([:])
    static func writeType(_ type: String) -> DBusValue { .properties(["type": .string(type)]) }
    static func text(_ text: String) -> DBusValue { .bytes(Array(text.utf8)) }
}
