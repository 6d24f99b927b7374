import FirmwareSim
import Glibc
import Testing
import TestSupport

@Suite("on --for")
struct TimedRunTests {
    @Test("The pump is switched off at the end")
    func end() async throws {
        let pump = try await BenchPump()
        let ending = try await Pumpctl.run("-p", pump.port, "on", "--for", "0.2s", "--speed", "99")
        #expect(ending.status == 0)
        #expect(ending.output == "pump on at 38 % (PWM 99)\npump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test(
        "A signal switches it off, and the status says which",
        arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(CInt, Int32)])
    func signal(number: CInt, status: Int32) async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 % (PWM 180)")
        #expect(await pump.duty() == 180)
        program.send(signal: number)
        let ending = try await program.ending()
        #expect(ending.status == status)
        #expect(ending.output == "pump off\n")
        #expect(ending.errors == "")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A pump that stops for safety ends it with 1")
    func safety() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 % (PWM 180)")
        await pump.overheat()
        expectFailure(try await program.ending(), 1, saying: "OVERHEAT", hint: "pumpctl off")
        #expect(await pump.duty() == nil)
        await pump.close()
    }

    @Test("A pump that its button stops ends it with 1")
    func button() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 % (PWM 180)")
        await pump.host.change { pump, now in pump.pressButton(at: now) }
        await pump.host.advance(by: .seconds(1))
        expectFailure(try await program.ending(), 1, saying: "button")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("A port that vanishes ends it with 74, and says that the pump may run on")
    func unplugged() async throws {
        let pump = try await BenchPump()
        let program = try await Pumpctl.start(["-p", pump.port, "on", "--for", "10m"])
        #expect(try await program.output.line() == "pump on at 70 % (PWM 180)")
        await pump.close()
        expectFailure(try await program.ending(), 74, saying: "runs on until its 30 minutes are over")
    }

    @Test("More than 30 minutes, or no time at all, is refused", arguments: ["31m", "0", "-5s", "soon", ""])
    func range(time: String) async throws {
        let pump = try await BenchPump()
        expectFailure(
            try await Pumpctl.run("-p", pump.port, "on", "--for=\(time)"), 64, saying: "--for", hint: "pumpctl on")
        #expect(await pump.state() == .off)
        await pump.close()
    }
}
