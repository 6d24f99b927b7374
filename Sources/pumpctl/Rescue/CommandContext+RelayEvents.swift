import BlueZ
import DeviceKit
import LineProtocol
import Transports

extension CommandContext {
    /// A relay whose events are shown.
    ///
    /// - Parameter name: What this computer is called, where it is offered to phones.
    func relay(
        _ store: any RescueStore, until goal: MessageGoal = MessageGoal(), offeredAs name: String = ""
    ) -> MessageRelay {
        MessageRelay(store, until: goal, on: loop, clock: clock) { [output] in output.show($0, offeredAs: name) }
    }
}

extension Output {
    /// Shows what a relay of messages has to tell.
    fileprivate func show(_ event: RelayEvent, offeredAs name: String) {
        switch event {
        case .kept(let message): show(message)
        case .surplus(let messages):
            if messages.contains(where: { $0.category == .sos }) { ringBell() }
            note("pumpctl: \(messages.count) more came and are kept", hint: "see them: pumpctl rescue list")
        case .notKept(let message):
            // A message that is not kept is none of the results; but somebody may need help.
            if message.category == .sos { ringBell() }
            note("pumpctl: not kept: \(MessageText.line(message, showsStatus: false))")
        case .malformed(let error): show(error)
        case .handedOn(let count, let port):
            note("pumpctl: \(count) handed on to \(port)")
            record(OfferRecord("handed_on", port: port, count: count))
        case .storeFails(let error): note("pumpctl: messages are not kept for now: \(error)", hint: error.hint)
        case .storeRecovers: note("pumpctl: messages are kept again")
        case .nobodyInSight: note("pumpctl: no phone is in sight yet; waiting for one")
        case .searchFails(let error): note("pumpctl: \(error); waiting until that is mended")
        case .came(let phone): show(phone, "came", "is connected")
        case .left(let phone, let isServed): show(phone, "left", isServed ? "is served" : "has left")
        case .notConnected(let phone, let error): note("pumpctl: \(phone.title): \(error)", hint: error.hint)
        case .waits(let phone, let error):
            note("pumpctl: \(phone.title) has to wait until another leaves: \(error)")
        case .offer(let event): show(event, name)
        }
    }

    private func show(_ message: RescueMessage) {
        let isSOS = message.category == .sos
        if isSOS { ringBell() }
        result(MessageText.line(message, showsStatus: false), MessageRecord(message, event: isSOS ? "sos" : "message"))
    }

    private func show(_ error: RescueError) {
        let reason = "\(error)".printable()
        note("pumpctl: ignored: it is no message: \(reason): \(error.excerpt.printable())")
        record(MalformedRecord(code: error.code.rawValue, reason: reason))
    }

    private func show(_ phone: BLESurvey.Sighting, _ event: String, _ words: String) {
        note("pumpctl: \(phone.title) \(words)")
        record(PhoneRecord(event: event, port: "ble:\(phone.address)", name: phone.name))
    }

    private func show(_ event: BLEOffer.Event, _ name: String) {
        switch event {
        case .offered(let adapter):
            note("pumpctl: \(name) is offered on \(adapter.name) (\(adapter.address))")
            record(OfferRecord("offered", name: name, adapter: adapter.name, port: "ble:\(adapter.address)"))
        case .interrupted(let error):
            note("pumpctl: \(error); \(name) is offered again once that is mended")
            record(OfferRecord("interrupted", name: name, error: error.code.rawValue))
        }
    }
}

extension BLESurvey.Sighting {
    /// The phone as people are told of it.
    fileprivate var title: String { (name.map { "\($0.printable()) " } ?? "") + "(ble:\(address))" }
}

// MARK: - As programs are told

/// Something that came and is no message.
private struct MalformedRecord: Encodable {
    var event = "malformed"
    var code: String
    var reason: String
}

/// A phone that has come or left.
private struct PhoneRecord: Encodable {
    var event: String
    var port: String
    var name: String?
}

/// What becomes of the offer of this computer.
private struct OfferRecord: Encodable {
    var event: String
    var name: String?
    var adapter: String?
    /// Where this computer is found, or whom something was handed on to.
    var port: String?
    var count: Int?
    var error: String?

    init(
        _ event: String, name: String? = nil, adapter: String? = nil, port: String? = nil, count: Int? = nil,
        error: String? = nil
    ) {
        self.event = event
        self.name = name
        self.adapter = adapter
        self.port = port
        self.count = count
        self.error = error
    }
}
