import DeviceKit
import LineProtocol
import RecordFormat
import Testing
import Transports

@Suite("Rescue messages in tables and JSON")
struct RescueMessageTableTests {
    private func message(_ category: RescueCategory) throws -> RescueMessage {
        RescueMessage(
            id: try #require(RescueID("6F1E2C1A-0B7B-4C0E-9A77-000000000001")), content: "a\u{7}b",
            position: try #require(RescuePosition(latitude: 35.5, longitude: -79)), time: .beginning, category: category
        )
    }

    private let row = [
        "6F1E2C1A-0B7B-4C0E-9A77-000000000001", "2001-01-01T00:00:00.000Z", "pending_sync", "SOS", "35.5", "-79.0",
        "a\u{7}b",
    ]

    @Test func `A message has a value for each column, with coordinates as numbers`() throws {
        let message = try message(.sos)
        #expect(message.row == row)
        var expected = Dictionary(uniqueKeysWithValues: zip(RescueMessage.columns, row.map { StateValue.text($0) }))
        (expected["latitude"], expected["longitude"]) = (.number(35.5), .number(-79))
        #expect(message.values == expected)
    }

    @Test func `A new message has the current time and is pending`() throws {
        let before = RecordTime.now.secondsSince1970
        let position = try #require(RescuePosition(latitude: 1, longitude: 2))
        let messages = (0..<2).map { _ in RescueMessage(writing: "help", at: position, category: .sos) }
        #expect(messages[0].id != messages[1].id)
        #expect(messages.allSatisfy { $0.status == .pendingSync })
        #expect(messages.allSatisfy { (before...RecordTime.now.secondsSince1970).contains($0.time.secondsSince1970) })
    }

    @Test func `A message of maximum length fits, even fully escaped`() throws {
        let position = try #require(RescuePosition(latitude: 1, longitude: 2))
        let content = String(repeating: "\u{1}", count: RescueMessage.contentLimit)
        let message = RescueMessage(writing: content, at: position, category: .other)
        #expect(message.json.count <= RescueFramer.lengthLimit)
        #expect(try RescueMessage(json: message.json).content == content)
    }

    @Test func `A relay event carries its message's values and marks an SOS`() throws {
        let events = try [RescueCategory.sos, .other].map { RelayEvent.kept(try message($0)) }
        #expect(events.map(\.isSOS) == [true, false])
        #expect(events.map { $0.values?["event"] } == [.text("sos"), .text("message")])
        #expect(events.map { $0.values?["content"] } == [.text("a\u{7}b"), .text("a\u{7}b")])
        let sos = try message(.sos)
        #expect(RelayEvent.notKept(sos).isSOS && RelayEvent.surplus([sos]).isSOS)
        #expect(RelayEvent.notKept(sos).values == nil)
    }

    @Test func `Other relay events have their own keys, or no values`() throws {
        let handedOn = RelayEvent.handedOn(3, to: "ble:phone")
        #expect(
            handedOn.values == ["event": .text("handed_on"), "port": .text("ble:phone"), "count": .integer(3)])
        let error = LinkError(.unavailable, name: "hci0", activity: "offer")
        #expect(
            RelayEvent.offer(.interrupted(error), as: "Rescue").values
                == ["event": .text("interrupted"), "name": .text("Rescue"), "error": .text("unavailable")])
        #expect(RelayEvent.nobodyInSight.values == nil && !RelayEvent.nobodyInSight.isSOS)
        let malformed = try #require(throws: RescueError.self) { try RescueMessage(json: Array("[".utf8)) }
        let values = RelayEvent.malformed(malformed).values
        #expect(values?["event"] == .text("malformed"))
        #expect(values?["code"] == .text(malformed.code.rawValue))
    }
}
