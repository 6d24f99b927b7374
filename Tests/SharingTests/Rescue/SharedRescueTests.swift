import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import FoundationEssentials
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Shared rescue phones", .timeLimit(.minutes(5)))
struct SharedRescueTests {
    private static let message =
        #"{"id":"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11","content":"Hamilton Hall flooding","latitude":35.9,"longitude":-79.0,"timestamp":752263200.5,"status":"pending_sync","category":"Flooding"}"#

    @Test("Each message of the phone goes to all clients as a line")
    func receive() async throws {
        let phone = RescueFirmware(
            options: RescueFirmwareOptions(
                carrier: .line(.unlimited), messages: 20, interval: .milliseconds(1), split: 20, malformed: 30))
        try await SharedBench.run(.rescue, phone) { bench, host in
            let clients = [try await bench.client(), try await bench.client()]
            await host.advance(by: .seconds(1))
            let stock = PhoneStock(seed: phone.options.seed)
            for client in clients {
                for index in 0..<20 {
                    #expect(try await client.message().id.description == stock.message(index).id.uuidString)
                }
            }
        }
    }

    @Test("Messages of a client are sent unchanged, and other text is reported")
    func send() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.rescue, at: "sim:rescue") {
            link
        } _: { bench in
            let client = try await bench.client()
            try await client.say(Self.message + "\n" + Self.message)
            #expect(await link.nextSent(2) == [Self.message, Self.message])
            try await client.say("Hello {\"a\":\n1}\n")
            #expect(await link.nextSent() == "{\"a\":\n1}")
            try await bench.untilReported("what is no message") {
                if case .failed(Array("Hello ".utf8), _, _) = $0 { true } else { false }
            }
            #expect(link.unreadSent == [])
        }
    }

    @Test(
        "Messages that wait to be sent are sent even if their program has left: it counts them as sent",
        arguments: [LinkHolding.always, .whileUsed(idle: .zero)])
    func left(holding: LinkHolding) async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.rescue, at: "sim:rescue", holding: holding) {
            link
        } _: { bench in
            let client = try await bench.client()
            link.holdSends()
            try await client.say(String(repeating: Self.message, count: 3))
            #expect(await link.nextSent() == Self.message)
            await client.leave()
            try await bench.untilReported("its leaving") { if case .left = $0 { true } else { false } }
            await settle()
            link.releaseSends()
            #expect(await link.nextSent(2) == [Self.message, Self.message])
        }
    }
}

private func ~= (pattern: [UInt8], value: [UInt8]) -> Bool { pattern == value }

extension LineClientEnd {
    /// Waits for the next valid message. Skips objects with missing members, wrong types or values out of range.
    fileprivate func message() async throws -> RescueMessage {
        while true {
            let line = try #require(try await line())
            if let message = try? RescueMessage(json: Array(line.utf8)) { return message }
        }
    }
}
