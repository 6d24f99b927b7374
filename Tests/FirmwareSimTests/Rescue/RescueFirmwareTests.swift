import FirmwareSim
import Testing

@Suite("The phone with the rescue app")
struct RescueFirmwareTests {
    private static func phone(
        messages: Int = 3, interval: Duration = .seconds(1), split: Int? = nil, malformed: Int = 0,
        forwards: Bool = true
    ) -> RescueFirmware {
        RescueFirmware(
            options: RescueFirmwareOptions(
                carrier: .line(.unlimited), seed: 7, messages: messages, interval: interval, split: split,
                malformed: malformed, forwards: forwards))
    }

    /// The messages of the phone in a range, as the phone sends them.
    private static func stock(_ range: Range<Int>) -> String {
        range.map { String(decoding: PhoneStock(seed: 7).message($0).json, as: UTF8.self) }.joined()
    }

    @Test("Each message is sent once, an interval apart, without a line end")
    func messages() {
        var phone = Self.phone()
        #expect(heard(phone.advance(to: .milliseconds(999))) == "")
        #expect(heard(phone.advance(to: .seconds(2))) == Self.stock(0..<2))
        #expect(heard(phone.advance(to: .seconds(60))) == Self.stock(2..<3))
        #expect(phone.nextActivity == nil)
    }

    @Test("Without an interval all messages are sent at once")
    func atOnce() {
        var phone = Self.phone(messages: 1000, interval: .zero)
        #expect(heard(phone.advance(to: .seconds(1))) == Self.stock(0..<1000))
    }

    @Test("The same seed gives the same messages, and another seed gives others")
    func seeds() {
        let stock = (0..<500).map { PhoneStock(seed: 7).message($0) }
        #expect(stock == (0..<500).map { PhoneStock(seed: 7).message($0) })
        #expect(stock[0] != PhoneStock(seed: 8).message(0))
        #expect(Set(stock.map(\.id)).count == 500)
        #expect(Set(stock.map(\.category)).count == 6)
        for message in stock { #expect(PhoneMessage(json: message.json) == message) }
    }

    @Test("Coordinates have at most six decimals")
    func places() {
        for message in (0..<1000).map({ PhoneStock(seed: 7).message($0) }) {
            for degrees in [message.latitude, message.longitude] {
                #expect("\(degrees)".split(separator: ".").last.map { $0.count <= 6 } == true, "\(degrees)")
            }
        }
    }

    @Test("A message has the id, time and status format of the protocol")
    func wire() throws {
        let json = Self.stock(0..<1)
        #expect(json.contains(/"id":"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"/))
        // Seconds since the beginning of 2001.
        #expect(json.contains("\"timestamp\":752263200,") || json.contains("\"timestamp\":752263200}"))
        #expect(json.contains("\"status\":\"pending_sync\""))
    }

    @Test("A received message is stored once, and forwarded if forwarding is on", arguments: [true, false])
    func forwards(forwards: Bool) {
        let message = PhoneStock(seed: 8).message(0)
        var synced = message
        synced.status = "synced"
        let json = String(decoding: message.json, as: UTF8.self)
        var phone = Self.phone(messages: 0, forwards: forwards)
        phone.receive(Array("noise}".utf8) + synced.json, at: .zero)
        #expect(heard(phone.advance(to: .seconds(1))) == (forwards ? json : ""))
        phone.receive(message.json + message.json, at: .seconds(1))
        #expect(heard(phone.advance(to: .seconds(2))) == "")
        #expect(phone.received == [message])
        phone.reset(at: .seconds(2))
        #expect(phone.received == [message])
    }

    @Test("Received messages may be split anywhere, and other content is ignored")
    func pieces() {
        let messages = (0..<4).map { PhoneStock(seed: 8).message($0) }
        var phone = Self.phone(messages: 0)
        for (index, byte) in messages.flatMap({ Array("{\"id\":7}".utf8) + $0.json }).enumerated() {
            phone.receive([byte], at: .milliseconds(index))
        }
        _ = phone.advance(to: .seconds(60))
        #expect(phone.received == messages)
    }

    @Test("Splits send small pieces of the unchanged messages")
    func splits() {
        var phone = Self.phone(split: 20)
        let emissions = phone.advance(to: .seconds(60))
        #expect(heard(emissions) == Self.stock(0..<3))
        #expect(emissions.allSatisfy { (1...20).contains($0.bytes.count) })
        #expect(Set(emissions.map(\.bytes.count)).count > 5)
    }

    @Test("Malformed content precedes messages and is the same for the same seed")
    func malformed() {
        var (phone, again) = (Self.phone(messages: 100, malformed: 100), Self.phone(messages: 100, malformed: 100))
        let text = heard(phone.advance(to: .seconds(1000)))
        #expect(text == heard(again.advance(to: .seconds(1000))))
        for index in 0..<100 { #expect(text.contains(Self.stock(index..<index + 1))) }
        for sign in ["NaN", "1e999", "\\ud800", "[[[[", "not-a-uuid", "\u{1B}[2J", "\u{FEFF}{"] {
            #expect(text.unicodeScalars.contains(sign.unicodeScalars), "\(sign)")
        }
    }
}

/// The emitted bytes as text.
private func heard(_ emissions: [Emission]) -> String {
    String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
}

extension String.UnicodeScalarView {
    fileprivate func contains(_ other: String.UnicodeScalarView) -> Bool { firstRange(of: other) != nil }
}
