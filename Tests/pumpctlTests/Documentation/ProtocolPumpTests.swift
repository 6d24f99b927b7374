import DeviceKit
import FirmwareSim
import LineProtocol
import Testing

@Suite("Pump tables in docs/protocols.md")
struct ProtocolPumpTests {
    /// A pump with both sensors, whose lines need no time for their transmission.
    private static let pump = PumpFirmware(
        options: PumpFirmwareOptions(lineRate: .unlimited, heat: .fixed(water: 12, skin: 34)))

    /// The family's commands as the page writes them.
    private static var commands: [String] { Family.pump.commands.map { $0.line.replacing("{speed}", with: "<n>") } }

    private static func message(_ line: String) -> PumpMessage { PumpMessage(line: Array(line.utf8).span) }

    @Test("Each pump command is in the table with the reply of a running pump")
    func commands() throws {
        let rows = try ProtocolPage().rows(below: "Commands of the pump", of: "command")
        #expect(rows.compactMap { $0["command"]?.spans.first } == Self.commands)
        #expect(rows.count == Self.commands.count + 1)
        for row in rows {
            // The row without a command is for any other line.
            let command = row["command"]?.spans.first?.replacing("<n>", with: "200") ?? "FOO"
            let reply = try #require(row["reply"]?.spans)
            var pump = Self.pump
            _ = pump.answer(to: "ON", at: .zero)
            // Two seconds after the start no unsolicited line is due.
            let lines = pump.answer(to: command, at: .seconds(2))
            #expect(lines.count == reply.count, "\(command): \(lines)")
            for (pattern, line) in zip(reply, lines) {
                #expect(pattern.fits(line), "\(command): \(line)")
                if case .unknown = Self.message(line) { Issue.record("\(command): \(line)") }
            }
        }
    }

    @Test("Each unsolicited line is in the table, and a simulated pump sends it")
    func events() throws {
        let told = try ProtocolPage().spans(below: "What the pump says unasked", of: "line")
        for lines in told {
            let line = try #require(lines.first)
            #expect(Family.pump.events.contains { line.hasPrefix($0.line) }, "\(line)")
            // The other lines of a row are text for people, which the pump sends after an error code.
            for text in lines.dropFirst() {
                if case .text = Self.message(text.replacing("…", with: "?")) { continue }
                Issue.record("\(text)")
            }
        }
        for event in Family.pump.events {
            #expect(told.joined().contains { $0.hasPrefix(event.line) }, "\(event.line)")
        }
        let said = Self.unasked()
        for line in said { #expect(told.joined().contains { $0.fits(line) }, "\(line)") }
        for pattern in told.joined() { #expect(said.contains { pattern.fits($0) }, "\(pattern)") }
    }

    /// The unsolicited lines of a pump that is switched by its button, gets too warm, and runs for too long. The first
    /// status comes within 8 s, because a running pump sends one every 5 s; the longest run is 30 minutes.
    private static func unasked() -> [String] {
        var pump = pump
        pump.pressButton(at: .zero)
        var lines = pump.lines(until: .seconds(8))
        pump.pressButton(at: .seconds(8))
        lines += pump.lines(until: .seconds(10))
        _ = pump.answer(to: "ON", at: .seconds(10))
        pump.setSkinTemperature(41)
        lines += pump.lines(until: .seconds(20))
        pump.setSkinTemperature(34)
        _ = pump.answer(to: "OFF", at: .seconds(20))
        _ = pump.answer(to: "ON", at: .seconds(22))
        return lines + pump.lines(until: .seconds(31 * 60))
    }

    @Test("Each error is in the table with the commands that it answers, and the simulator sends it")
    func errors() throws {
        let rows = try ProtocolPage().rows(below: "Errors of the pump", of: "error")
        let codes = rows.compactMap { $0["error"]?.spans.first }
        #expect(Set(codes) == Set(Family.pump.errors.map { "ERROR:\($0.code)" }) && Set(codes).count == codes.count)
        for row in rows {
            let code = String(try #require(row["error"]?.spans.first).dropFirst("ERROR:".count))
            let answers = try #require(row["answers"])
            #expect((answers == "nothing") == (Family.pump.error(code)?.isUnsolicited == true), "\(code)")
            #expect((answers == "nothing") == PumpErrorCode(rawValue: code).isUnsolicited, "\(code)")
            for command in answers.spans { #expect(Self.commands.contains(command), "\(code): \(command)") }
        }
        var pump = Self.pump
        var said = ["FOO", "SPEED:256", "SPEED:255", "ON"].enumerated().flatMap {
            pump.answer(to: $1, at: .seconds(2 * $0))
        }
        // The firmware is asleep when the line end arrives, and loses it, so the error comes with the next line.
        var other = Self.pump
        said += other.answer(to: String(repeating: "X", count: 64), at: .zero)
        said += other.answer(to: "FOO", at: .seconds(2))
        pump.setSkinTemperature(41)
        said += pump.lines(until: .seconds(12)) + pump.answer(to: "ON", at: .seconds(12)) + Self.unasked()
        #expect(Set(said.filter { $0.hasPrefix("ERROR:") }) == Set(codes))
    }

    @Test("Each example of a status or temperature line is parsed")
    func examples() throws {
        let lines = try #require(try ProtocolPage().page.blocks.first { $0.kind == "text" }).lines
        for line in lines {
            switch Self.message(line) {
            case .status(let status): #expect(status.power != .unknown && status.otherFields.isEmpty, "\(line)")
            case .temperatures: break
            default: Issue.record("\(line)")
            }
        }
        #expect(lines.count > 5)
    }
}
