import LineProtocol
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionRefusalTests {
    static let commands: [PumpCommand] = [.on, .speed(speed(9)), .status, .temperature]
    /// The commands that each error code can answer.
    static let answers: [String: Set<PumpCommand>] = [
        "CMD_TOO_LONG": Set(commands),
        "UNKNOWN_COMMAND": Set(commands),
        "SOMETHING_NEW": Set(commands),
        "PUMP_START_FAILED": [.on],
        "PUMP_NOT_RUNNING": [.speed(speed(9))],
        "INVALID_SPEED_VALUE": [.speed(speed(9))],
        "SAFETY_SHUTOFF": [],
        "OVERHEAT": [],
    ]

    @Test(arguments: commands, answers.keys.sorted())
    func `An error answers only the commands that it can answer and is an event to the others`(
        _ command: PumpCommand, code: String
    ) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        await bench.comesIn("ERROR:" + code)
        if Self.answers[code]?.contains(command) == true {
            let isChange = PumpFamily.effect(of: command) == .change
            if isChange { await bench.confirmsRefusal() }
            #expect(
                await attempt.value
                    == .failure(
                        SessionError(.refused, command: command.text, outcome: .nothingChanged, deviceCode: code)))
            await bench.finish(heard: isChange ? [.now("ERROR:" + code)] : [])
        } else {
            let dialogue = try #require(PumpDialogue.all.first { $0.command.text.prefix(3) == command.text.prefix(3) })
            await bench.comesIn(dialogue.lines[0])
            if dialogue.lines.count > 1 {
                await bench.comesIn(command == .speed(speed(9)) ? "SPEED:9" : dialogue.lines[1])
            }
            _ = try await attempt.value.get()
            await bench.finish(heard: [.now("ERROR:" + code)])
        }
    }

    @Test func `An error after the OK still refuses`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "ERROR:PUMP_START_FAILED")
        await bench.confirmsRefusal()
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .refused, command: "ON", outcome: .nothingChanged, deviceCode: "PUMP_START_FAILED")))
        await bench.finish(heard: [.now("ERROR:PUMP_START_FAILED")])
    }

    @Test func `After a refusal the next command is sent directly`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let refused = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("ERROR:PUMP_NOT_RUNNING")
        await bench.confirmsRefusal()
        _ = await refused.value
        let next = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish(heard: [.now("ERROR:PUMP_NOT_RUNNING")])
    }
}
