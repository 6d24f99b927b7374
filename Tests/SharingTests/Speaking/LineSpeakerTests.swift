import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Line sessions of a shared device", .timeLimit(.minutes(5)))
struct LineSpeakerTests {
    private let clock = ManualClock()
    private let told = Watched<[String]>([])

    private var asker: Asker {
        Asker { [told] bytes, _ in told.update { $0.append("to the asker: " + String(decoding: bytes, as: UTF8.self)) }
        }
    }

    private func speaker(over link: ScriptedLink) async throws -> any Speaker {
        let row = try #require(SharedFamily.row(of: .pump))
        return try await row.begin(link, try Endpoint("tcp:nowhere:1"), clock) { [told] speech in
            guard case .said(let bytes, _) = speech else { return }
            told.update { $0.append("to all: " + String(decoding: bytes, as: UTF8.self)) }
        }
    }

    @Test("Clients receive the device's lines in the device's order")
    func order() async throws {
        let link = ScriptedLink { sent in
            switch sent {
            case "STATUS\n": "MANUAL:ON\r\nSTATUS:{State:OFF}\r\nMANUAL:OFF\r\n"
            case "TEMP\n": "TEMP:34.5\r\n"
            case "\nOFF\n": "MANUAL:OFF\r\nOK\r\nPUMP:OFF\r\n"
            default: nil
            }
        }
        let speaker = try await speaker(over: link)
        try await speaker.perform(SharedFamily.pump.read(Array("STATUS".utf8)), for: asker)
        try await speaker.perform(SharedFamily.pump.read(Array("OFF".utf8)), for: asker)
        // After OFF the session queries the status unasked. That reply goes to nobody, the lines around it to all.
        #expect(
            told.state == [
                "to all: MANUAL:ON\r\n", "to the asker: STATUS:{State:OFF}\r\n", "to all: MANUAL:OFF\r\n",
                "to all: MANUAL:OFF\r\n", "to all: MANUAL:ON\r\n", "to all: MANUAL:OFF\r\n",
                "to the asker: OK\r\nPUMP:OFF\r\n",
            ])
        await speaker.close()
    }

    @Test("The acknowledgement of a doubtful OFF is passed on only once a status confirms it")
    func doubtfulStop() async throws {
        let sendings = Watched(0)
        let link = ScriptedLink { sent in
            switch (
                sent,
                sent == "\nOFF\n"
                    ? sendings.update { (count: inout Int) -> Int in
                        count += 1; return count
                    } : 0
            ) {
            case (_, 1): "OK\r\nPUMP:OFF\r\n"
            case (_, 2): "MANUAL:ON\r\n"
            case (_, 3...): "OK\r\nPUMP:OFF\r\n"
            case ("TEMP\n", _): "TEMP:34.5\r\n"
            case ("STATUS\n", _): sendings.state < 3 ? "STATUS:{State:ON}\r\n" : "STATUS:{State:OFF}\r\n"
            default: nil
            }
        }
        // Until the device has replied once, an acknowledgement may belong to another program's OFF.
        let speaker = try await speaker(over: link)
        let stopping = Task { try await speaker.perform(SharedFamily.pump.read(Array("OFF".utf8)), for: asker) }
        let time = Task {
            while !Task.isCancelled {
                await settle()
                clock.advance(by: .milliseconds(100))
            }
        }
        try await stopping.value
        time.cancel()
        #expect(sendings.state >= 3)
        #expect(told.state == ["to all: MANUAL:ON\r\n", "to the asker: OK\r\nPUMP:OFF\r\n"])
        await speaker.close()
    }

    @Test("After the button the state is queried, and only a status sets it to off")
    func asksBehindButton() async throws {
        let link = ScriptedLink()
        let speaker = try await speaker(over: link)
        await link.deliver("MANUAL:OFF\r\n")
        #expect(await speaker.values()["state"] == nil)
        #expect(await link.nextSent() == "STATUS\n")
        await link.deliver("STATUS:{State:OFF}\r\n")
        _ = try await told.wait(for: "the status") { $0.count == 2 ? true : nil }
        #expect(told.state == ["to all: MANUAL:OFF\r\n", "to all: STATUS:{State:OFF}\r\n"])
        #expect(await speaker.values()["state"] == .text("off"))
        await speaker.close()
    }

    @Test("A command whose client left while it waited is not sent")
    func leftMeanwhile() async throws {
        let link = ScriptedLink()
        let speaker = try await speaker(over: link)
        let asking = Task { try await speaker.perform(SharedFamily.pump.read(Array("TEMP".utf8)), for: asker) }
        #expect(await link.nextSent() == "TEMP\n")
        let isThere = Watched(true)
        let leaver = Asker(tell: { _, _ in }, isThere: { isThere.state })
        let waiting = Task { try await speaker.perform(SharedFamily.pump.read(Array("ON".utf8)), for: leaver) }
        await settle()
        isThere.update { $0 = false }
        await link.deliver("TEMP:34.5\r\n")
        try await asking.value
        await #expect {
            try await waiting.value
        } throws: { error in
            (error as? SessionError)?.code == .cancelled && (error as? SessionError)?.outcome == .notSent
        }
        #expect(link.unreadSent == [])
        await speaker.close()
    }

    @Test("A reply that comes after the deadline goes to nobody")
    func lateAnswer() async throws {
        let link = ScriptedLink()
        let speaker = try await speaker(over: link)
        let asking = Task { try await speaker.perform(SharedFamily.pump.read(Array("SPEED:7".utf8)), for: asker) }
        #expect(await link.nextSent() == "\nSPEED:7\n")
        await clock.untilSomebodySleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        await #expect(throws: SessionError.self) { try await asking.value }
        await link.deliver("OK\r\nSPEED:7\r\nERROR:INVALID_SPEED_VALUE\r\nERROR:OVERHEAT\r\n")
        await settle()
        #expect(told.state == ["to all: ERROR:OVERHEAT\r\n"])
        await speaker.close()
    }

    @Test("A long line is sent in pieces, with a pause for the device to read each")
    func longLine() async throws {
        let link = ScriptedLink()
        let speaker = try await speaker(over: link)
        let line = String(repeating: "X", count: 70)
        let asking = Task { try await speaker.perform(SharedFamily.pump.read(Array(line.utf8)), for: asker) }
        // A piece has 40 bytes.
        #expect(await link.nextSent() == "\n" + String(repeating: "X", count: 39))
        await clock.untilSomebodySleeps(until: .milliseconds(200))
        clock.advance(by: .milliseconds(200))
        #expect(await link.nextSent() == String(repeating: "X", count: 31) + "\n")
        await link.deliver("ERROR:CMD_TOO_LONG\r\nERROR:UNKNOWN_COMMAND\r\n")
        // A query shows whether the last error belongs to this line.
        #expect(await link.nextSent() == "TEMP\n")
        await link.deliver("TEMP:34.5\r\n")
        await #expect(throws: SessionError.self) { try await asking.value }
        #expect(
            told.state == ["to the asker: ERROR:CMD_TOO_LONG\r\n", "to the asker: ERROR:UNKNOWN_COMMAND\r\n"])
        await speaker.close()
    }
}
