import DeviceKit
import TestSupport
import Testing

@testable import pumpctl

@Suite("Invalid arguments")
struct BadArgumentTests {
    /// The last argument is 12 in Arabic-Indic digits, which the pump does not understand.
    @Test(
        "An invalid speed is refused with the valid ones",
        arguments: ["256", "abc", "-1", "50.5", "101%", "", "١٢"])
    func speeds(speed: String) {
        let text = refusal(of: ["speed", speed])
        #expect(text.contains("The value '\(speed)' is invalid for '<speed>'") && text.contains("0 to 255"), "\(text)")
        // ArgumentParser takes an empty text after '=' for a missing value.
        let option = refusal(of: ["on", "--speed=\(speed)"])
        #expect(option.contains("--speed") && option.contains(speed == "" ? "Missing" : "0 to 255"), "\(option)")
    }

    @Test("A file name that is not UTF-8 is refused, because a file with another name would be written")
    func notUTF8() async throws {
        let folder = TemporaryFolder()
        let words = "-p sim:storm?unpaced storm log get -o \(folder.path)/$'caf\\xe9.csv'"
        let ending = try await ChildProcess(Shell.bash("exec \(Executable.pumpctl) \(words)")).ending()
        expectFailure(ending, 64, saying: "caf\u{FFFD}.csv' is not UTF-8", hint: "ln -s")
        #expect(ending.output == "")
    }

    @Test(
        "Usage errors name the mistake and a hint on standard error",
        arguments: [
            (["speed"], "missing expected argument '<speed>'", "see pumpctl speed --help"),
            (
                ["sim", "pump", "--knbo", "3"], "unknown option '--knbo'. Did you mean '--knob'?",
                "see pumpctl sim pump --help"
            ),
            (["version"], "unknown command 'version' for 'pumpctl'", "try: pumpctl --version"),
            (
                ["rescue", "send", "--at", "1,2", " "], "the message must not be empty",
                "see pumpctl rescue send --help"
            ),
            (["gatt"], "no BLE device is named", "list devices in range: pumpctl scan"),
        ])
    func form(words: [String], message: String, hint: String) async throws {
        let environment = ChildProcess.surroundings.filter { $0.key != "PUMPCTL_PORT" }
        let ending = try await Pumpctl.start(words, environment: environment).ending()
        #expect(ending.status == 64 && ending.output == "")
        #expect(ending.errors.hasPrefix("pumpctl: \(message)"), "\(ending)")
        #expect(ending.errors.hasSuffix("\(hint)\n"), "\(ending)")
    }

    @Test("After UNKNOWN_COMMAND from a pump, a line is called damaged only if it is a known command")
    func unknownLine() async throws {
        let unknown = try await Pumpctl.run("-p", "sim:pump?unpaced", "send", "FOO")
        expectFailure(
            unknown, 1, saying: "UNKNOWN_COMMAND",
            hint: "the pump has no such command; use: ON, OFF, SPEED:{speed}, STATUS, TEMP")
        #expect(Family.pump.hint("UNKNOWN_COMMAND", to: Array("status".utf8))?.contains("damaged") == true)
        #expect(Family.pump.hint("UNKNOWN_COMMAND", to: Array("SPEED:7".utf8))?.contains("damaged") == true)
    }

    @Test("Help that cannot be written fails")
    func fullDisk() async throws {
        let ending = try await ChildProcess(Shell.bash("exec \(Executable.pumpctl) --help > /dev/full")).ending()
        expectFailure(ending, 74, saying: "No space left", hint: "free space")
    }

    @Test("A refused command sends nothing", arguments: [["speed", "-1"], ["on", "--speed=256"]])
    func nothingIsSent(words: [String]) async throws {
        let device = try await ScriptedDevice()
        let ending = try await Pumpctl.start(["-p", device.port] + words).ending()
        expectFailure(ending, 64, saying: "speed", "0 to 255", hint: "")
        #expect(device.heard.state.bytes.isEmpty)
        await device.close()
    }

    @Test("Arguments after -- belong to the program that pumpctl runs")
    func others() async throws {
        let words = ["--", "echo", "speed", "-1", "--timeout=0", "-p", "a", "--port", "b"]
        let folder = TemporaryFolder()
        for command in [["sim", "led", "--run"], ["-p", "sim:led", "record", folder.path("capture")]] {
            let ending = try await Pumpctl.start(command + words).ending()
            #expect(
                ending.status == 0 && ending.output == words.dropFirst(2).joined(separator: " ") + "\n", "\(ending)")
        }
    }

    @Test(
        "A missing or unknown argument is named, with the command to look at",
        arguments: [
            (["speed"], "speed", "pumpctl speed"), (["status", "--frobnicate"], "--frobnicate", "pumpctl status"),
            (["start"], "start", "pumpctl"), (["-f", "toaster", "status"], "toaster", "pumpctl"),
            (["status", "--timeout=0"], "--timeout", "pumpctl"),
        ])
    func unknown(words: [String], named: String, hint: String) async throws {
        expectFailure(try await Pumpctl.start(words).ending(), 64, saying: named, hint: hint)
    }

    @Test("An invalid --timeout is refused", arguments: ["0", "-1", "x", "", "nan", "1e99"])
    func noTime(time: String) {
        let text = refusal(of: ["-p", "/proc/nowhere", "status", "--timeout=\(time)"])
        #expect(text.contains("--timeout"), "\(text)")
    }
}
