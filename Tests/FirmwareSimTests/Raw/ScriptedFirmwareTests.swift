import FirmwareSim
import TestSupport
import Testing

@Suite("Scripted devices")
struct ScriptedFirmwareTests {
    private let folder = TemporaryFolder()

    private func script(_ text: String) throws -> AnswerScript {
        try AnswerScript(path: folder.write(text, to: "script"))
    }

    /// Returns the device's reply to `text` within a second.
    private func say(_ text: String, _ device: inout ScriptedFirmware, at instant: Duration = .zero) -> String {
        device.receive(Array(text.utf8), at: instant)
        let emissions = device.advance(to: instant + .seconds(1))
        #expect(device.isQuiescent)
        return String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
    }

    @Test("The first matching rule answers a line, and other lines get no reply")
    func rules() throws {
        let script = try script("# a controller\n> $I\n< [VER:1.1h]\n< ok\n\n> G0*\n< moving\n>G*\r\n<ok\r\n> \n")
        var device = ScriptedFirmware(script: script)
        #expect(say("$I\n", &device) == "[VER:1.1h]\r\nok\r\n")
        #expect(say("G0 X1\rG1 X2\r\n", &device, at: .seconds(1)) == "moving\r\nok\r\n")
        #expect(say("$i\nM9\n\n", &device, at: .seconds(2)) == "")
        #expect(device.lineCount == 5)
    }

    @Test("A single character is answered at once and is not part of its line")
    func bytes() throws {
        var device = ScriptedFirmware(script: try script("> G1\n< ok\n>! ?\n< <Idle>\n"), lineEnd: [0x0A])
        #expect(say("?G?1", &device) == "<Idle>\n<Idle>\n")
        #expect(say("\n", &device, at: .seconds(1)) == "ok\n")
    }

    @Test("Lines before the first rule are the greeting of each host and follow a reset")
    func greeting() throws {
        var device = ScriptedFirmware(script: try script("< Hello\n< there\n> A\n< B\n"))
        #expect(say("A\n", &device) == "B\r\n")
        device.hostCame(at: .seconds(1))
        #expect(say("", &device, at: .seconds(1)) == "Hello\r\nthere\r\n")
        device.receive(Array("A".utf8), at: .seconds(2))
        _ = device.advance(to: .seconds(3))
        device.reset(at: .seconds(3))
        #expect(say("\n", &device, at: .seconds(3)) == "Hello\r\nthere\r\n")
    }

    @Test("Without a script a device echoes each line and drops one that is too long")
    func echo() {
        var device = ScriptedFirmware(lineEnd: [])
        #expect(say("one\r\ntwo\n", &device) == "onetwo")
        let long = String(repeating: "x", count: ScriptedFirmware.lineLimit + 1)
        #expect(say("\(long)\nA\n", &device, at: .seconds(1)) == "A")
    }

    @Test(
        "A malformed script is refused with its line number",
        arguments: [("> A\nB\n", 2), (">! ab\n", 1), ("\n\n>!\n", 3), ("hello", 1)])
    func malformed(text: String, line: Int) throws {
        let error = #expect(throws: DeviceFileError.self) { try script(text) }
        #expect(error?.code == .malformed(line: line))
        #expect(error.map { "\($0)" }?.hasSuffix(":\(line): not a valid line of a script") == true)
    }

    @Test("A script that is unreadable or too large is refused")
    func unreadable() throws {
        let error = #expect(throws: DeviceFileError.self) { try AnswerScript(path: folder.path("none")) }
        #expect(error?.code == .unreadable(errno: 2))
        let large = #expect(throws: DeviceFileError.self) { try script(String(repeating: "#\n", count: 1 << 20)) }
        #expect(large?.code == .tooLarge(limit: 1 << 20))
    }
}
