internal import BlueZ
internal import LineProtocol
internal import Transports

extension RelayEvent {
    /// Whether the event reports a message of the category SOS.
    public var isSOS: Bool {
        switch self {
        case .kept(let message), .notKept(let message): message.category == .sos
        case .surplus(let messages): messages.contains { $0.category == .sos }
        default: false
        }
    }

    /// The event as values with stable keys for programs; nil for an event that only people need. `event` is the kind:
    /// `message` or `sos`, with ``LineProtocol/RescueMessage/values``; `malformed`, `handed_on`, `came`, `left`,
    /// `offered`, `interrupted`.
    public var values: [String: StateValue]? {
        switch self {
        case .kept(let message):
            var values = message.values
            values["event"] = .text(isSOS ? "sos" : "message")
            return values
        case .malformed(let error):
            return [
                "event": .text("malformed"), "code": .text(error.code.rawValue),
                "reason": .text("\(error)".printable()),
            ]
        case .handedOn(let count, let port):
            return ["event": .text("handed_on"), "port": .text(port), "count": .integer(count)]
        case .came(let phone): return Self.values("came", phone)
        case .left(let phone, _): return Self.values("left", phone)
        case .offer(.offered(let adapter), let name):
            return [
                "event": .text("offered"), "name": .text(name), "adapter": .text(adapter.name),
                "port": .text("ble:\(adapter.address)"),
            ]
        case .offer(.interrupted(let error), let name):
            return ["event": .text("interrupted"), "name": .text(name), "error": .text(error.code.rawValue)]
        case .surplus, .known, .notKept, .storeFails, .storeRecovers, .lost, .back, .waitsForDevice, .nobodyInSight,
            .searchFails,
            .notConnected, .waits:
            return nil
        }
    }

    private static func values(_ event: String, _ phone: BLESurvey.Sighting) -> [String: StateValue] {
        var values: [String: StateValue] = ["event": .text(event), "port": .text("ble:\(phone.address)")]
        values["name"] = phone.name.map { .text($0) }
        return values
    }
}
