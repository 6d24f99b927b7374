import TestSupport
import Testing

/// A pump reads a speed like `atoi`, as a number of 16 bits: `fast` is 0, and 65736 is 200 (protocols.md#pump-24).
@Suite("Lines that a pump would misread as a speed")
struct SpeedLineCommandTests {
    @Test(
        "send refuses a text if the pump would misread any of its lines as a speed",
        arguments: ["STATUS\nSPEED:fast", "STATUS\rSPEED: 200", "SPEED:12\r\nspeed:65736"])
    func send(text: String) async throws {
        let pump = try await BenchPump()
        _ = try await Pumpctl.run("-p", pump.port, "on")
        let ending = try await Pumpctl.run("-p", pump.port, "send", text)
        expectFailure(ending, 64, saying: "would set the speed to", "--force", hint: "pumpctl send")
        #expect(await pump.duty() == 180)
        await pump.close()
    }

    @Test("console refuses each line from a pipe that the pump would misread as a speed")
    func console() async throws {
        let pump = try await BenchPump()
        _ = try await Pumpctl.run("-p", pump.port, "on")
        let console = try await Pumpctl.start(["-p", pump.port, "console", "--quiet", "1"])
        try await console.write("STATUS\rSPEED:fast\nSPEED:12\0junk\nspeed:65736\n")
        await console.closeInput()
        let ending = try await console.ending()
        expectFailure(
            ending, 64, saying: "would set the speed to 0", "would set the speed to 12", "would set the speed to 200",
            hint: "--force")
        #expect(await pump.duty() == 180)
        await pump.close()
    }
}
