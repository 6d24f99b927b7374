import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("The phone with the rescue app over BLE")
struct RescuePeripheralTests {
    private static func phone(
        messages: Int = 3, interval: Duration = .seconds(1), split: Int? = nil, malformed: Int = 0
    ) -> RescuePeripheral {
        RescuePeripheral(
            RescueFirmwareOptions(
                seed: 7, messages: messages, interval: interval, split: split, malformed: malformed))
    }

    /// Subscribes a central to the phone's messages. Notifications have up to `mtu` - 3 bytes; with nil up to 20, the
    /// shortest limit of BLE.
    private static func subscribe(_ phone: inout RescuePeripheral, mtu: Int?, at instant: Duration = .zero) {
        phone.setNotificationLength(mtu.map { $0 - 3 })
        phone.take(.subscribed(RescuePeripheral.messages), at: instant)
    }

    /// The phone's own messages with these numbers, as JSON.
    private static func stock(_ range: Range<Int>) -> [[UInt8]] { range.map { PhoneStock(seed: 7).message($0).json } }

    @Test("The phone offers FFF0 with FFF1 to write and notify")
    func description() {
        let offered = RescuePeripheral(name: "Phone 7").offered
        #expect(offered.name == "Phone 7")
        #expect(offered.services.map(\.uuid) == ["FFF0"])
        #expect(offered.services[0].characteristics.map(\.uuid) == ["FFF1"])
        #expect(offered.services[0].characteristics[0].flags == [.write, .notify])
    }

    @Test("A message that fits is one notification, even if many are sent at once", arguments: [1, 0])
    func whole(interval: Int) {
        var phone = Self.phone(messages: 100, interval: .seconds(interval))
        Self.subscribe(&phone, mtu: 517)
        let emissions = phone.advance(to: .seconds(100))
        #expect(emissions.map(\.bytes) == Self.stock(0..<100))
        #expect(emissions.allSatisfy { $0.characteristic == RescuePeripheral.messages })
    }

    @Test(
        "A message that does not fit is split over full packets",
        arguments: [(23, 20), (100, 97), (nil, 20)] as [(Int?, Int)])
    func pieces(mtu: Int?, length: Int) {
        var phone = Self.phone()
        Self.subscribe(&phone, mtu: mtu)
        let pieces = phone.advance(to: .seconds(3)).map(\.bytes)
        #expect(Array(pieces.joined()) == Array(Self.stock(0..<3).joined()))
        #expect(pieces.allSatisfy { $0.count <= length })
        #expect(pieces.count { $0.count < length } <= 3)
    }

    @Test("Splits shorten the packets, and malformed input comes between messages")
    func faults() {
        var phone = Self.phone(messages: 50, split: 30, malformed: 50)
        Self.subscribe(&phone, mtu: 517)
        let pieces = phone.advance(to: .seconds(60)).map(\.bytes)
        #expect(pieces.allSatisfy { (1...30).contains($0.count) })
        let text = String(decoding: pieces.joined(), as: UTF8.self)
        for message in Self.stock(0..<50) { #expect(text.contains(String(decoding: message, as: UTF8.self))) }
        #expect(text.utf8.count > Self.stock(0..<50).joined().count)
    }

    @Test("Messages wait for the first subscriber, and again after it has unsubscribed")
    func waiting() {
        var phone = Self.phone()
        phone.take(.connected, at: .zero)
        #expect(phone.advance(to: .seconds(10)).isEmpty)
        Self.subscribe(&phone, mtu: 517, at: .seconds(10))
        #expect(phone.advance(to: .seconds(11)).map(\.bytes) == Self.stock(0..<1))
        phone.take(.unsubscribed(RescuePeripheral.messages), at: .seconds(11))
        #expect(phone.advance(to: .seconds(60)).isEmpty)
        Self.subscribe(&phone, mtu: 517, at: .seconds(60))
        #expect(phone.advance(to: .seconds(100)).map(\.bytes) == Self.stock(1..<3))
    }

    @Test("A written message is stored and forwarded to present and later subscribers")
    func forwards() {
        let messages = (0..<2).map { PhoneStock(seed: 8).message($0) }
        var phone = Self.phone(messages: 0)
        phone.take(.wrote(Array(messages[0].json.prefix(100)), to: RescuePeripheral.messages, mtu: 103), at: .zero)
        phone.take(.wrote(Array(messages[0].json.dropFirst(100)), to: RescuePeripheral.messages, mtu: 103), at: .zero)
        #expect(phone.advance(to: .seconds(1)).isEmpty)
        #expect(phone.device.received == [messages[0]])
        Self.subscribe(&phone, mtu: 517, at: .seconds(1))
        phone.take(.wrote(messages[1].json, to: RescuePeripheral.messages, mtu: 517), at: .seconds(1))
        #expect(phone.advance(to: .seconds(2)).map(\.bytes) == messages.map(\.json))
        #expect(phone.device.received == messages)
    }

    @Test("A phone's verbs and settings work as on a line")
    func control() async throws {
        var device = Self.phone(messages: 0)
        device.setNotificationLength(514)
        let phone = await ControlledDevice(device)
        _ = await phone.take(.subscribed(RescuePeripheral.messages))
        let sent = try await phone.perform("write", "SOS", "help")
        #expect(sent.compactMap { PhoneMessage(json: $0.bytes)?.content } == ["help"])
        _ = try await phone.perform("set", "split", "3")
        let pieces = try await phone.perform("write", "Other", "fine")
        #expect(pieces.count > 10 && pieces.allSatisfy { $0.bytes.count <= 3 })
        #expect(await phone.host.handle.observe()["sent"] == .integer(2))
    }
}
