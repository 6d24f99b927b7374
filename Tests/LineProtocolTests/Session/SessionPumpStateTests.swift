import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// A session's knowledge of the pump's state.
@Suite(.timeLimit(.minutes(5))) struct SessionPumpStateTests {
    @Test func `A set duty is forgotten when the potentiometer changes the speed`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.speed(speed(200)))
        await bench.goesOut("SPEED:200")
        await bench.comesIn("OK", "SPEED:200")
        _ = await attempt.value
        await bench.comesIn("STATUS:{State:ON,Speed:78%,Runtime:5m,Remaining:25m}")
        #expect(await bench.session.state.speed == speed(200))
        await bench.comesIn("STATUS:{State:ON,Speed:40%,Runtime:5m,Remaining:25m}")
        let state = await bench.session.state
        #expect(state.speed == nil)
        #expect(state.speedPercent == 40)
        await bench.finish(heard: [
            .now("STATUS:{State:ON,Speed:78%,Runtime:5m,Remaining:25m}"),
            .now("STATUS:{State:ON,Speed:40%,Runtime:5m,Remaining:25m}"),
        ])
    }

    @Test func `A safety shut-off is shown until OFF`() async throws {
        let bench = try await SessionBench(hasPast: false)
        await bench.comesIn(SessionBench.statusOn, "ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded")
        #expect(await bench.session.state.isSafetyShutOff)
        await bench.comesIn(SessionBench.statusError)
        let on = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:PUMP_START_FAILED")
        await bench.confirmsRefusal()
        #expect(await on.value.code == .refused)
        var state = await bench.session.state
        #expect(state.isSafetyShutOff)
        #expect(state.power == .error)
        let off = bench.begin(.off)
        await bench.goesOut("OFF")
        await bench.comesIn("OK", "PUMP:OFF")
        await bench.confirmsOff()
        #expect(await off.value == .success(.off))
        state = await bench.session.state
        #expect(!state.isSafetyShutOff)
        #expect(state.power == .off)
        #expect(state.error == nil)
        await bench.finish(heard: [
            .now(SessionBench.statusOn), .now("ERROR:SAFETY_SHUTOFF"), .now("Maximum runtime exceeded"),
            .now(SessionBench.statusError), .now("ERROR:PUMP_START_FAILED"),
        ])
    }

    @Test func `A status with an unknown state makes the power unknown`() async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(.status)
        await bench.goesOut("STATUS")
        await bench.comesIn("STATUS:{State:PAUSED,SkinTemp:34.5C}")
        _ = try await attempt.value.get()
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `SPEED refused with PUMP_NOT_RUNNING makes the power unknown`() async throws {
        let bench = try await SessionBench(hasPast: false)
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("ERROR:PUMP_NOT_RUNNING")
        await bench.confirmsRefusal()
        #expect(await attempt.value.code == .refused)
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(SessionBench.statusOn), .now("ERROR:PUMP_NOT_RUNNING")])
    }

    @Test func `An unsolicited line within a reply changes the state at once`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("OK", "ERROR:OVERHEAT")
        #expect(await bench.session.state.power == .error)
        bench.clock.advance(by: .seconds(3))
        #expect(await attempt.value.code == .noAnswer)
        #expect(await bench.session.state.power != .on)
        await bench.finish(heard: [.now("ERROR:OVERHEAT")])
    }

    @Test func `A boot banner makes the power unknown`() async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn, "Ready for commands...")
        #expect(await bench.session.state.power == .unknown)
        #expect(await bench.session.hasDeviceStarted)
        await bench.finish(heard: [.now(SessionBench.statusOn), .now("Ready for commands...")])
    }
}
