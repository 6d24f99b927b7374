import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Stalled terminals and files", .timeLimit(.minutes(5)))
struct StalledOutputTests {
    private typealias UserTerminal = TerminalTests.UserTerminal

    /// Ctrl-S and Ctrl-Q, with which a user stops and resumes the output of a terminal.
    private static let (stop, goOn) = ("\u{13}", "\u{11}")

    /// A pump that replies immediately, and whose status follows ON and OFF.
    private static func device() async throws -> ScriptedDevice {
        let isOn = Watched(false)
        return try await ScriptedDevice { line in
            switch line {
            case "ON", "OFF":
                isOn.update { $0 = line == "ON" }
                return line == "ON" ? "OK\r\nPUMP:ON\r\n" : "OK\r\nPUMP:OFF\r\n"
            case "TEMP": return "TEMP:{Water:12.0C,Skin:34.5C}\r\n"
            case "STATUS" where isOn.state: return "STATUS:{State:ON,Speed:70%,SkinTemp:34.5C,Time:1s}\r\n"
            case "STATUS": return "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
            default: return ""
            }
        }
    }

    /// Starts pumpctl on the user's terminal. Its socket for OFF is in `folder`.
    private static func start(_ words: [String], _ user: UserTerminal, _ folder: TemporaryFolder) async throws
        -> ChildProcess
    {
        try await Pumpctl.start(
            words, environment: ["XDG_RUNTIME_DIR": folder.path, "TERM": "xterm"], terminal: user.path)
    }

    @Test(
        "A monitor on a stalled terminal sends another program's OFF, and continues later",
        arguments: [[], ["--json"], ["-v"]])
    func monitor(options: [String]) async throws {
        let (user, folder, pump) = (try await UserTerminal(), TemporaryFolder(), try await BenchPump(isOn: true))
        let monitor = try await Self.start(options + ["-p", pump.port, "monitor"], user, folder)
        try await user.screen.text(upTo: options == ["--json"] ? "\"on\"" : "on")
        try await user.type(Self.stop)
        // The pump sends three unsolicited lines, which the monitor has to print.
        for _ in 0..<3 { await pump.host.advance(by: .seconds(5)) }
        let off = try await Pumpctl.run(
            "-p", pump.port, "off", environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(off.output == "pump off\n", "\(off)")
        #expect(await pump.state() == .off)
        try await user.type(Self.goOn)
        try await user.screen.text(upTo: "has asked for OFF")
        monitor.send(signal: SIGTERM)
        #expect(try await monitor.ending().status == 143)
        await pump.close()
        await user.close()
    }

    @Test("A signal ends a monitor on a stalled terminal")
    func monitorEnded() async throws {
        let (user, folder, pump) = (try await UserTerminal(), TemporaryFolder(), try await BenchPump(isOn: true))
        let monitor = try await Self.start(["-v", "-p", pump.port, "monitor"], user, folder)
        try await user.screen.text(upTo: "on")
        try await user.type(Self.stop)
        for _ in 0..<3 { await pump.host.advance(by: .seconds(5)) }
        monitor.send(signal: SIGTERM)
        #expect(try await monitor.ending().status == 143)
        await pump.close()
        await user.close()
    }

    @Test("A second signal ends a command that is blocked on a FIFO")
    func blockedFile() async throws {
        let (folder, sensor) = (TemporaryFolder(), try await ScriptedDevice { _ in "LOG Values: 1 2 3 4.50\n" })
        let path = folder.path("storm.log")
        #expect(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        while write(reader, "full", 4) > 0 {}
        let program = try await Pumpctl.start(["-v", "-p", sensor.port, "storm", "log", "get", "-o", path])
        try await program.errors.text(upTo: "< LOG Values")
        program.send(signal: SIGINT)
        await program.sendUntilTheEnd(signal: SIGTERM)
        #expect(try await program.ending().status == 130)
        await sensor.close()
    }

    @Test("A timed run on a stalled terminal sends OFF in time, and prints its lines later")
    func timedRun() async throws {
        let (user, folder, device) = (try await UserTerminal(), TemporaryFolder(), try await Self.device())
        try await user.type(Self.stop)
        let run = try await Self.start(["-p", device.port, "on", "--for", "0.5s"], user, folder)
        try await device.heard.text(upTo: "ON\n")
        try await device.heard.text(upTo: "\nOFF\n")
        try await user.type(Self.goOn)
        try await user.screen.text(upTo: "pump on")
        try await user.screen.text(upTo: "pump off")
        #expect(try await run.ending().status == 0)
        await device.close()
        await user.close()
    }
}
