import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionTimeoutTests {
    @Test(arguments: [PumpCommand.on, .speed(speed(100))])
    func `An unanswered change is sent once and makes outcome and state unknown`(
        _ command: PumpCommand
    ) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        bench.clock.advance(by: .seconds(1.5))
        await bench.settle()
        #expect(await bench.session.state.power == .on)
        bench.clock.advance(by: .seconds(1.5))
        #expect(
            await attempt.value
                == .failure(SessionError(.noAnswer, command: command.text, outcome: .unknown, waited: .seconds(3))))
        let state = await bench.session.state
        #expect(state.power == .unknown)
        #expect(state.speed == nil && state.speedPercent == nil && state.runtimeMinutes == nil)
        #expect(state.temperatures.skin?.celsius == 34.5)
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `A repeated query is answered by the first reply, and the second becomes an event`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut("STATUS")
        await bench.comesIn(SessionBench.statusOff, SessionBench.statusOff)
        #expect(await attempt.value == .success(.status(status(SessionBench.statusOff))))
        await bench.finish(heard: [.now(SessionBench.statusOff)])
    }

    @Test func `An error after the retry of a query refuses the query`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.temperature)
        await bench.goesOut("TEMP")
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut("TEMP")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .refused, command: "TEMP", outcome: .nothingChanged, deviceCode: "UNKNOWN_COMMAND")))
        await bench.finish()
    }

    @Test func `If no reply comes, the error has the last unknown line`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("?first", "PUMP:MAYBE", "[POT] 512")
        bench.clock.advance(by: .seconds(3))
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .notUnderstood, command: "ON", outcome: .unknown, foreignLine: Array("PUMP:MAYBE".utf8),
                        waited: .seconds(3))))
        await bench.finish(heard: [.now("?first"), .now("PUMP:MAYBE"), .now("[POT] 512")])
    }

    @Test func `A line without its end is reported in the error`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.speed(speed(1)))
        await bench.goesOut("SPEED:1")
        await bench.link.deliver("OK\r\nSPEE")
        bench.clock.advance(by: .seconds(3))
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .notUnderstood, command: "SPEED:1", outcome: .unknown, foreignLine: Array("SPEE".utf8),
                        waited: .seconds(3))))
        await bench.finish()
    }

    @Test func `A later command with a shorter timeout ends in time`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.on, timeout: .seconds(60))
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await first.value == .success(.on))
        let second = bench.begin(.speed(speed(5)), timeout: .seconds(1))
        await bench.goesOut("SPEED:5")
        bench.clock.advance(by: .seconds(1))
        #expect(
            await second.value
                == .failure(SessionError(.noAnswer, command: "SPEED:5", outcome: .unknown, waited: .seconds(1))))
        await bench.finish()
    }

    @Test func `An earlier timeout does not end a later command`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.on, timeout: .seconds(3))
        await bench.goesOut("ON")
        await bench.clock.untilSomebodySleeps(until: .seconds(3))
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await first.value == .success(.on))
        bench.clock.advance(by: .seconds(2))
        let second = bench.begin(.speed(speed(5)), timeout: .seconds(3))
        await bench.goesOut("SPEED:5")
        bench.clock.advance(by: .seconds(1))
        await bench.clock.untilSomebodySleeps(until: .seconds(5))
        bench.clock.advance(by: .seconds(1))
        await bench.comesIn("OK", "SPEED:5")
        #expect(await second.value == .success(.speed(speed(5))))
        await bench.finish()
    }

    @Test func `Waiting for the turn does not count toward the timeout`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.on, timeout: .seconds(10))
        await bench.goesOut("ON")
        let second = bench.begin(.speed(speed(5)), timeout: .seconds(1))
        await bench.settle()
        bench.clock.advance(by: .seconds(9))
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await first.value == .success(.on))
        await bench.goesOut("SPEED:5")
        bench.clock.advance(by: .milliseconds(999))
        await bench.comesIn("OK", "SPEED:5")
        #expect(await second.value == .success(.speed(speed(5))))
        await bench.finish()
    }

    @Test func `An unknown line before the retry makes a query's error notUnderstood`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        await bench.comesIn("?garbage")
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut("STATUS")
        bench.clock.advance(by: .seconds(1.5))
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .notUnderstood, command: "STATUS", outcome: .nothingChanged,
                        foreignLine: Array("?garbage".utf8), waited: .seconds(3))))
        await bench.finish(heard: [.now("?garbage")])
    }

    @Test(arguments: [PumpCommand.status, .temperature])
    func `An unanswered query is sent a second time at half the timeout, and no third time`(
        _ command: PumpCommand
    ) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        bench.clock.advance(by: .seconds(1.5))
        await bench.goesOut(command.text)
        bench.clock.advance(by: .seconds(1.5))
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .noAnswer, command: command.text, outcome: .nothingChanged, waited: .seconds(3))))
        #expect(await bench.session.state.power == .on, "asking changes nothing")
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test(arguments: [PumpCommand.on, .speed(speed(9))])
    func `A blocked carrier does not hold a command beyond its timeout`(
        _ command: PumpCommand
    ) async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        bench.clock.advance(by: .seconds(3))
        #expect(
            await attempt.value
                == .failure(SessionError(.noAnswer, command: command.text, outcome: .unknown, waited: .seconds(3))))
        #expect(await bench.session.state.power == .unknown)
        #expect(bench.link.heldSendCount == 0, "it must not go out much later")
        await bench.finish()
    }
}
