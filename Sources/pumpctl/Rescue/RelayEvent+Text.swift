import BlueZ
import DeviceKit
import LineProtocol
import Terminal
import Transports

extension Output {
    /// Prints an event of a message relay, and rings the bell for an SOS.
    func show(_ event: RelayEvent) {
        if event.isSOS { ringBell() }
        // As text, only a stored message is a result.
        if case .kept = event { text(event.text) } else { note("pumpctl: \(event.text)", hint: event.hint) }
        if let values = event.values { record(values) }
    }
}

extension RelayEvent {
    /// The text of the event, for people.
    fileprivate var text: String {
        switch self {
        case .kept(let message): message.line(showsStatus: false)
        case .surplus(let messages): "\(messages.count.counted("more message")) received and kept"
        case .known: "known messages arrived again, and are not shown"
        case .notKept(let message): "not kept: \(message.line(showsStatus: false))"
        case .malformed(let error):
            "ignored: not a message: \("\(error)".printable()): \(error.excerpt.printable())"
        case .handedOn(let count, let port): "\(count.counted("message")) sent to \(port)"
        case .storeFails(let error): "messages or their status are not kept for now: \(error)"
        case .storeRecovers: "messages are kept again"
        case .lost(let error): "\(error); waiting for the device to come back"
        case .back(let name): "\(name) is back"
        case .waitsForDevice(let error): "\(error); waiting for the device"
        case .nobodyInSight: "no phone is in range yet; waiting for one"
        case .searchFails(let error): "\(error); waiting until the problem is solved"
        case .came(let phone): "\(phone.title) is connected"
        case .left(let phone, let isServed): "\(phone.title) \(isServed ? "is served" : "has disconnected")"
        case .notConnected(let phone, let error): "\(phone.title): \(error)"
        case .waits(let phone, let error): "\(phone.title) waits until another phone disconnects: \(error)"
        case .offer(.offered(let adapter), let name): "\(name) is offered on \(adapter.name) (\(adapter.address))"
        case .offer(.interrupted(let error), let name): "\(error); \(name) is offered again when the problem is solved"
        }
    }

    /// The hint for the event; nil if there is none.
    fileprivate var hint: String? {
        switch self {
        case .surplus, .known: "see them: pumpctl rescue list"
        case .storeFails(let error): error.hint
        case .notConnected(_, let error): error.hint
        default: nil
        }
    }
}

extension BLESurvey.Sighting {
    /// The phone's name and address, for people.
    fileprivate var title: String { (name.map { "\($0.printable()) " } ?? "") + "(ble:\(address))" }
}

extension RescueMessage {
    /// The length of the longest category of the protocol.
    private static let categoryWidth = "Road Closure".count

    /// Returns the message on one line, for people.
    func line(showsStatus: Bool) -> String {
        let category = category.rawValue.printable().padded(to: Self.categoryWidth)
        let status = showsStatus ? (status == .synced ? "synced   " : "pending  ") : ""
        return "\(isoTime)  \(status)\(category)  \(position.latitude),\(position.longitude)  \(content.printable())"
    }
}
