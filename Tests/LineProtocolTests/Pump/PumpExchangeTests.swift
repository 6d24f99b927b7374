import LineProtocol
import Testing

/// An exchange's verdict on a line, as a comparable value.
enum Verdict: Equatable, Sendable {
    case unrelated
    case partial
    case complete(PumpReply)
    case refused(String)

    init(_ verdict: ExchangeVerdict<PumpReply>) {
        switch verdict {
        case .unrelated: self = .unrelated
        case .partial: self = .partial
        case .complete(let reply): self = .complete(reply)
        case .refused(let code): self = .refused(code)
        }
    }
}

/// A command, and the verdict on each line after it.
struct Dialogue: Sendable, CustomTestStringConvertible {
    var command: PumpCommand
    var lines: [(String, Verdict)]

    init(_ command: PumpCommand, _ lines: [(String, Verdict)]) {
        self.command = command
        self.lines = lines
    }

    var testDescription: String { "\(command.text): \(lines.map(\.0))" }
}

@Suite("Pump exchanges")
struct PumpExchangeTests {
    static let speed0 = PumpCommand.speed(PumpSpeed(pwm: 0) ?? .initial)
    static let off: PumpStatus = {
        var status = PumpStatus()
        status.power = .off
        return status
    }()
    static let warm = PumpTemperatures(single: ThermistorReading(celsius: 34.5))

    @Test(
        "A command is completed by its own reply, whatever comes between",
        arguments: [
            Dialogue(.on, [("OK", .partial), ("PUMP:ON", .complete(.on))]),
            Dialogue(.off, [("OK", .partial), ("PUMP:OFF", .complete(.off))]),
            Dialogue(.off, [("PUMP:OFF", .complete(.off))]),
            Dialogue(.speed(.initial), [("OK", .partial), ("SPEED:180", .complete(.speed(.initial)))]),
            Dialogue(speed0, [("OK", .partial), ("SPEED:0", .complete(.speed(PumpSpeed(pwm: 0) ?? .initial)))]),
            Dialogue(.status, [("STATUS:{State:OFF}", .complete(.status(off)))]),
            Dialogue(.temperature, [("TEMP:34.5", .complete(.temperatures(warm)))]),
            Dialogue(
                .on,
                [
                    ("[BT] Received: ON", .unrelated), ("STATUS:{State:OFF}", .unrelated), ("OK", .partial),
                    ("STATUS:{State:OFF}", .unrelated), ("MANUAL:ON", .unrelated), ("#?", .unrelated),
                    ("ERROR:OVERHEAT", .unrelated), ("Skin temperature too high: ?C", .unrelated),
                    ("PUMP:ON", .complete(.on)),
                ]),
            Dialogue(
                .temperature, [("STATUS:{State:OFF}", .unrelated), ("TEMP:34.5", .complete(.temperatures(warm)))]),
            Dialogue(.status, [("TEMP:34.5", .unrelated), ("STATUS:{State:OFF}", .complete(.status(off)))]),
        ])
    func isCompleted(dialogue: Dialogue) { check(dialogue) }

    @Test(
        "A command is not completed by another command's reply",
        arguments: [
            Dialogue(.on, [("PUMP:ON", .unrelated)]),
            Dialogue(
                .on, [("OK", .partial), ("OK", .unrelated), ("PUMP:OFF", .unrelated), ("PUMP:ON", .complete(.on))]),
            Dialogue(.on, [("OK", .partial), ("SPEED:180", .unrelated), ("MANUAL:ON", .unrelated)]),
            Dialogue(
                .off, [("OK", .partial), ("PUMP:ON", .unrelated), ("MANUAL:OFF", .unrelated)]),
            Dialogue(.speed(.initial), [("SPEED:180", .unrelated), ("OK", .partial), ("SPEED:18", .unrelated)]),
            Dialogue(.speed(.initial), [("OK", .partial), ("SPEED:256", .unrelated), ("PUMP:ON", .unrelated)]),
            Dialogue(.status, [("OK", .unrelated), ("STATUS:{State:OFF", .unrelated)]),
            Dialogue(.temperature, [("OK", .unrelated), ("TEMP:", .unrelated), ("TEMP:{Water:12.0C", .unrelated)]),
        ])
    func isNotCompleted(dialogue: Dialogue) { check(dialogue) }

    static let everyCommand: [PumpCommand] = [.on, .off, .speed(.initial), .status, .temperature]

    @Test("A command is refused only by errors that can answer it, before and after its OK", arguments: [false, true])
    func isRefused(isAcknowledged: Bool) {
        let answers: [String: [PumpCommand]] = [
            "CMD_TOO_LONG": Self.everyCommand,
            "UNKNOWN_COMMAND": Self.everyCommand,
            "PUMP_START_FAILED": [.on],
            "PUMP_NOT_RUNNING": [.speed(.initial)],
            "INVALID_SPEED_VALUE": [.speed(.initial)],
            "SAFETY_SHUTOFF": [],
            "OVERHEAT": [],
            "WATER_EMPTY": Self.everyCommand,
        ]
        for (code, refused) in answers {
            for command in Self.everyCommand {
                var exchange = PumpExchange(command)
                if isAcknowledged { _ = exchange.take(.ok) }
                let verdict = Verdict(exchange.take(.error(PumpErrorCode(rawValue: code))))
                #expect(
                    verdict == (refused.contains(command) ? .refused(code) : .unrelated), "\(code) to \(command.text)")
            }
        }
    }

    private func check(_ dialogue: Dialogue) {
        var exchange = PumpFamily.exchange(for: dialogue.command)
        for (line, verdict) in dialogue.lines {
            #expect(Verdict(exchange.take(PumpMessage(text: line))) == verdict, "\(line) to \(dialogue.command.text)")
        }
    }
}
