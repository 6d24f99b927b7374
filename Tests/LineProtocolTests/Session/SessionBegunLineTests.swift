import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// Sessions whose device may have received the beginning of a line, for example of an echo or of another program. The
/// next command would become the rest of this line. `999` is the pump's line spoiler, which makes a begun line invalid.
@Suite(.timeLimit(.minutes(5))) struct SessionBegunLineTests {
    @Test func `A first query is separated from a begun line, whose refusal is no event`() async throws {
        let bench = try await SessionBench(mayBeMidLine: true)
        let attempt = bench.begin(.status)
        await bench.goesOut("999\nTEMP")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await attempt.value == .success(.status(status(SessionBench.statusOff))))
        await bench.finish()
    }

    @Test func `OFF is sent at once after a begun line`() async throws {
        let bench = try await SessionBench(mayBeMidLine: true)
        let attempt = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await attempt.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:UNKNOWN_COMMAND")])
    }

    @Test func `If the device holds no begun line, a later error still refuses the change`() async throws {
        let bench = try await SessionBench(mayBeMidLine: true)
        let attempt = bench.begin(.on)
        await bench.goesOut("999\nTEMP")
        await bench.comesIn("TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:PUMP_START_FAILED")
        await bench.confirmsRefusal()
        #expect(await attempt.value.code == .refused)
        await bench.finish(heard: [.now("ERROR:PUMP_START_FAILED")])
    }

    @Test(arguments: [
        ["ERROR:UNKNOWN_COMMAND"], ["ERROR:CMD_TOO_LONG"], ["ERROR:INVALID_SPEED_VALUE"], ["OK", "SPEED:25"],
    ])
    func `A line end before a change separates it from another program's half line`(answer: [String]) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.speed(speed(178)))
        #expect(await bench.link.nextSent() == "\nSPEED:178\n")
        for line in answer { await bench.comesIn(line) }
        if answer.count == 1 { await bench.goesOut("TEMP") }
        await bench.comesIn("OK", "SPEED:178")
        #expect(await attempt.value == .success(.speed(speed(178))))
        await bench.session.close()
    }

    @Test func `After an interrupted send, OFF is separated from the begun line`() async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let stopped = bench.begin(.speed(speed(20)))
        await bench.goesOut("SPEED:20")
        stopped.cancel()
        _ = await stopped.value
        bench.link.releaseSends()
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("ERROR:PUMP_NOT_RUNNING", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        await bench.finish(heard: [.now("ERROR:PUMP_NOT_RUNNING")])
    }

    @Test func `After an interrupted send, a query first ends the begun line`() async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let stopped = bench.begin(.speed(speed(20)))
        await bench.goesOut("SPEED:20")
        stopped.cancel()
        _ = await stopped.value
        bench.link.releaseSends()
        let question = bench.begin(.status)
        await bench.letRead()
        #expect(await bench.link.nextSent() == "999\nTEMP\n")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND", "TEMP:34.5")
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff)
        #expect(await question.value == .success(.status(status(SessionBench.statusOff))))
        await bench.finish()
    }

    @Test func `The line spoiler puts any begun speed out of range, even in 16 bits`() throws {
        let spoiler = String(decoding: PumpFamily.lineSpoiler.dropLast(), as: UTF8.self)
        #expect(PumpFamily.lineSpoiler.last == UInt8(ascii: "\n"))
        for begun in [""] + (0...255).map(String.init) {
            let value = try #require(Int(begun + spoiler))
            #expect(!(0...255).contains(value))
            #expect(!(0...255).contains(Int16(truncatingIfNeeded: value)))
        }
    }
}
