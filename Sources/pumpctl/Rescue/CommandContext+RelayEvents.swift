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
        case .kept(let message):
            let isSOS = message.category == .sos
            if isSOS { ringBell() }
            result(
                MessageText.line(message, showsStatus: false), MessageRecord(message, event: isSOS ? "sos" : "message"))
        case .surplus(let messages):
            if messages.contains(where: { $0.category == .sos }) { ringBell() }
            note("pumpctl: \(messages.count) more came and are kept", hint: "see them: pumpctl rescue list")
        case .notKept(let message):
            // A message that is not kept is none of the results; but somebody may need help.
            if message.category == .sos { ringBell() }
            note("pumpctl: not kept: \(MessageText.line(message, showsStatus: false))")
        case .malformed(let error):
            let reason = "\(error)".printable()
            note("pumpctl: ignored: it is no message: \(reason): \(error.excerpt.printable())")
            record(RelayRecord(event: "malformed", code: error.code.rawValue, reason: reason))
        case .handedOn(let count, let port):
            note("pumpctl: \(count) handed on to \(port)")
            record(RelayRecord(event: "handed_on", port: port, count: count))
        case .storeFails(let error): note("pumpctl: messages are not kept for now: \(error)", hint: error.hint)
        case .storeRecovers: note("pumpctl: messages are kept again")
        case .lost(let error): note("pumpctl: \(error); waiting for the device to come back")
        case .back(let name): note("pumpctl: \(name) is back")
        case .waitsForDevice(let error): note("pumpctl: \(error); waiting for it")
        case .nobodyInSight: note("pumpctl: no phone is in sight yet; waiting for one")
        case .searchFails(let error): note("pumpctl: \(error); waiting until that is mended")
        case .came(let phone): show(phone, "came", "is connected")
        case .left(let phone, let isServed): show(phone, "left", isServed ? "is served" : "has left")
        case .notConnected(let phone, let error): note("pumpctl: \(phone.title): \(error)", hint: error.hint)
        case .waits(let phone, let error):
            note("pumpctl: \(phone.title) has to wait until another leaves: \(error)")
        case .offer(.offered(let adapter)):
            note("pumpctl: \(name) is offered on \(adapter.name) (\(adapter.address))")
            record(
                RelayRecord(event: "offered", name: name, adapter: adapter.name, port: "ble:\(adapter.address)"))
        case .offer(.interrupted(let error)):
            note("pumpctl: \(error); \(name) is offered again once that is mended")
            record(RelayRecord(event: "interrupted", name: name, error: error.code.rawValue))
        }
    }

    private func show(_ phone: BLESurvey.Sighting, _ event: String, _ words: String) {
        note("pumpctl: \(phone.title) \(words)")
        record(RelayRecord(event: event, name: phone.name, port: "ble:\(phone.address)"))
    }
}

extension BLESurvey.Sighting {
    /// The phone as people are told of it.
    fileprivate var title: String { (name.map { "\($0.printable()) " } ?? "") + "(ble:\(address))" }
}

/// What has come about at a relay but for messages, as programs are told of it.
private struct RelayRecord: Encodable {
    var event: String
    var name: String?
    var adapter: String?
    /// Where this computer or a phone is found, or whom something was handed on to.
    var port: String?
    var count: Int?
    var code: String?
    var reason: String?
    var error: String?
}
