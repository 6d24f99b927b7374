import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SessionCancellationTests {
    @Test func `A cancelled change has an unknown outcome, and its late reply answers nothing`()
        async throws
    {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOff)
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        attempt.cancel()
        #expect(await attempt.value == .failure(SessionError(.cancelled, command: "ON", outcome: .unknown)))
        #expect(await bench.session.state.power == .unknown)
        let next = bench.begin(.on)
        await bench.letRead()
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON", "TEMP:34.5")
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await next.value == .success(.on))
        await bench.finish(heard: [.now(SessionBench.statusOff), .now("OK"), .now("PUMP:ON")])
    }

    @Test func `A cancelled query changes nothing and is not repeated`() async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        attempt.cancel()
        #expect(
            await attempt.value == .failure(SessionError(.cancelled, command: "STATUS", outcome: .nothingChanged)))
        #expect(await bench.session.state.power == .on)
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `A command cancelled while waiting is not sent, and the others keep their order`()
        async throws
    {
        let bench = try await SessionBench()
        let first = bench.begin(.on)
        await bench.goesOut("ON")
        let second = bench.begin(.speed(speed(2)))
        let third = bench.begin(.speed(speed(3)))
        let fourth = bench.begin(.speed(speed(4)))
        await bench.settle()
        third.cancel()
        #expect(await third.value == .failure(SessionError(.cancelled, command: "SPEED:3", outcome: .notSent)))
        await bench.comesIn("OK", "PUMP:ON")
        #expect(await first.value == .success(.on))
        await bench.goesOut("SPEED:2")
        await bench.comesIn("OK", "SPEED:2")
        #expect(await second.value == .success(.speed(speed(2))))
        await bench.goesOut("SPEED:4")
        await bench.comesIn("OK", "SPEED:4")
        #expect(await fourth.value == .success(.speed(speed(4))))
        await bench.finish()
    }

    @Test(arguments: [PumpCommand.on, .speed(speed(3)), .status])
    func `A command of a cancelled task is not sent`(_ command: PumpCommand)
        async throws
    {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        #expect(
            await bench.begin(command, cancelled: true).value
                == .failure(SessionError(.cancelled, command: command.text, outcome: .notSent)))
        #expect(await bench.session.state.power == .on, "nothing was sent, nothing is in doubt")
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `A command that the carrier does not take can be cancelled`() async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        attempt.cancel()
        let result = await attempt.value
        #expect(result.code == .cancelled)
        #expect(await bench.session.state.power == .unknown)
        await bench.finish()
    }

    @Test func `A command after a cancelled one waits for the pump's reading time`() async throws {
        let bench = try await SessionBench(hasPast: false)
        for _ in 0..<3 {
            let attempt = bench.begin(.temperature)
            await bench.goesOut("TEMP")
            attempt.cancel()
            _ = await attempt.value
            let next = bench.begin(.temperature)
            await bench.clock.untilSomebodySleeps(until: bench.clock.now.offset + PumpFamily.readingTime)
            #expect(bench.link.unreadSent == [])
            next.cancel()
            #expect(await next.value == .failure(SessionError(.cancelled, command: "TEMP", outcome: .notSent)))
            bench.clock.advance(by: PumpFamily.readingTime)
        }
        await bench.finish()
    }

    @Test func `OFF does not wait for the pump's reading time`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.temperature)
        await bench.goesOut("TEMP")
        attempt.cancel()
        _ = await attempt.value
        let next = bench.begin(.on)
        await bench.clock.untilSomebodySleeps(until: PumpFamily.readingTime)
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("TEMP:34.5", "OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        #expect(await next.value == .failure(SessionError(.overtaken, command: "ON", outcome: .notSent)))
        await bench.session.close()
    }
}
