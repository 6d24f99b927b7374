import TestSupport
import Testing

@testable import pumpctl

@Suite("Arguments that are none: refused before anything is sent")
struct BadArgumentTests {
    /// The last are digits that the pump does not read.
    @Test(
        "A speed that is none is told with what a speed may be",
        arguments: ["256", "abc", "-1", "50.5", "101%", "", "١٢"])
    func speeds(speed: String) {
        let text = refusal(of: ["speed", speed])
        #expect(text.contains("The value '\(speed)' is invalid for '<speed>'") && text.contains("0 to 255"), "\(text)")
        // The parser takes nothing behind '=' for no value.
        let option = refusal(of: ["on", "--speed=\(speed)"])
        #expect(option.contains("--speed") && option.contains(speed == "" ? "Missing" : "0 to 255"), "\(option)")
    }

    @Test("A name that is not UTF-8 is refused: another file would be written")
    func notUTF8() async throws {
        let folder = TemporaryFolder()
        let words = "-p sim:storm?unpaced storm log get -o \(folder.path)/$'caf\\xe9.csv'"
        let ending = try await ChildProcess(Shell.bash("exec \(Executable.pumpctl) \(words)")).ending()
        expectFailure(ending, 64, saying: "caf\u{FFFD}.csv' is not UTF-8", hint: "ln -s")
        #expect(ending.output == "")
    }

    @Test("Nothing is sent of a command that is refused", arguments: [["speed", "-1"], ["on", "--speed=256"]])
    func nothingIsSent(words: [String]) async throws {
        let device = try await ScriptedDevice()
        let ending = try await Pumpctl.start(["-p", device.port] + words).ending()
        expectFailure(ending, 64, saying: "speed", "0 to 255", hint: "")
        #expect(device.heard.state.bytes.isEmpty)
        await device.close()
    }

    @Test("The arguments of another program are its own")
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
        "What is missing or unknown is named, with where to look",
        arguments: [
            (["speed"], "speed", "pumpctl speed"), (["status", "--frobnicate"], "--frobnicate", "pumpctl status"),
            (["start"], "start", "pumpctl"), (["-f", "toaster", "status"], "toaster", "pumpctl"),
            (["status", "--timeout=0"], "--timeout", "pumpctl"),
        ])
    func unknown(words: [String], named: String, hint: String) async throws {
        expectFailure(try await Pumpctl.start(words).ending(), 64, saying: named, hint: hint)
    }

    @Test("A time that is none is refused", arguments: ["0", "-1", "x", "", "nan", "1e99"])
    func noTime(time: String) {
        let text = refusal(of: ["-p", "/proc/nowhere", "status", "--timeout=\(time)"])
        #expect(text.contains("--timeout"), "\(text)")
    }
}
