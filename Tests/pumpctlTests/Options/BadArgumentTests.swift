import Testing
import TestSupport

@Suite("Arguments that are none: refused before anything is sent")
struct BadArgumentTests {
    @Test("speed 256")
    func tooFast() async throws { try await expectRefused("256") }

    @Test("speed abc")
    func word() async throws { try await expectRefused("abc") }

    @Test("speed -1")
    func negative() async throws { try await expectRefused("-1") }

    @Test("speed 50.5")
    func fraction() async throws { try await expectRefused("50.5") }

    @Test("speed 101%")
    func tooManyPercent() async throws { try await expectRefused("101%") }

    @Test("speed ''")
    func nothing() async throws { try await expectRefused("") }

    @Test("speed ١٢, in digits that the pump does not read")
    func otherDigits() async throws { try await expectRefused("١٢") }

    @Test("speed, and no number")
    func missing() async throws {
        expectFailure(try await Pumpctl.run("speed"), 64, saying: "speed", hint: "pumpctl speed")
    }

    private func expectRefused(_ speed: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let device = try await ScriptedDevice()
        let ending = try await Pumpctl.run("-p", device.port, "speed", speed)
        let words = "The value '\(speed)' is invalid for '<speed>'"
        expectFailure(ending, 64, saying: words, "0 to 255", hint: "", location)
        let on = try await Pumpctl.run("-p", device.port, "on", "--speed=\(speed)")
        expectFailure(on, 64, saying: "speed", "0 to 255", hint: "pumpctl on", location)
        #expect(device.heard.state.bytes.isEmpty, sourceLocation: location)
        await device.close()
    }

    @Test("An unknown option")
    func unknownOption() async throws {
        expectFailure(
            try await Pumpctl.run("status", "--frobnicate"), 64, saying: "--frobnicate", hint: "pumpctl status")
    }

    @Test("An unknown command")
    func unknownCommand() async throws {
        expectFailure(try await Pumpctl.run("start"), 64, saying: "start", hint: "pumpctl")
    }

    @Test("An unknown family")
    func unknownFamily() async throws {
        expectFailure(try await Pumpctl.run("-f", "toaster", "status"), 64, saying: "toaster", hint: "pumpctl")
    }

    @Test("--timeout 0, and other times that are none", arguments: ["0", "-1", "x", "", "nan", "1e99"])
    func noTime(time: String) async throws {
        expectFailure(
            try await Pumpctl.run("-p", "/proc/nowhere", "status", "--timeout=\(time)"), 64, saying: "--timeout",
            hint: "pumpctl")
    }
}
