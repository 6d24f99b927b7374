import Glibc
import TestSupport
import Testing

@testable import pumpctl

@Suite("Devices of no known family", .timeLimit(.minutes(5)))
struct RawCommandTests {
    private let folder = TemporaryFolder()

    /// Writes a script; returns the endpoint of a simulated device that follows it.
    private func script(_ text: String) -> String { "sim:raw?unpaced&script=\(folder.write(text, to: "script"))" }

    @Test(
        "Bytes are parsed from hexadecimal digits",
        arguments: [
            ("01 03", [1, 3]), ("0x01,0x03", [1, 3]), ("0103fF", [1, 3, 255]), ("", []),
        ] as [(String, [UInt8])])
    func hex(text: String, bytes: [UInt8]) throws { #expect(try TypedBytes.hex(text) == bytes) }

    @Test("Text that is not hexadecimal is refused", arguments: ["0", "0g", "+1", "1 2", "0x", "é1", "01 0x003"])
    func noHex(text: String) { #expect(throws: (any Error).self) { try TypedBytes.hex(text) } }

    @Test(
        "Escapes become bytes, and other text stays",
        arguments: [
            (#"?\x18"#, [0x3F, 0x18]), (#"a\r\n\t\0\e\\"#, [0x61, 0x0D, 0x0A, 0x09, 0, 0x1B, 0x5C]),
            ("é", [0xC3, 0xA9]),
        ] as [(String, [UInt8])])
    func escapes(text: String, bytes: [UInt8]) throws { #expect(try TypedBytes.escaped(text) == bytes) }

    @Test("An invalid escape is refused", arguments: [#"\"#, #"\q"#, #"\x"#, #"\x1"#, #"\x1g"#, #"\x+1"#])
    func noEscapes(text: String) { #expect(throws: (any Error).self) { try TypedBytes.escaped(text) } }

    @Test(
        "An invalid option is refused with the valid ones",
        arguments: [
            (["send", "X", "--ends", "lfcr"], "use: lf, cr, crlf, none"),
            (["send", "X", "--until", "ok|"], "none of them empty, e.g. 'ok|error:*'"),
            (["send", "X", "--hex"], "'X' is not a hexadecimal byte"),
            (["send", "X", "--hex", "--force"], "'X' is not a hexadecimal byte"),
            (["send", "00", "--hex", "--escapes"], "--hex cannot be combined with --escapes"),
            (
                ["send", "X", "--no-answer", "--until", "ok"],
                "--no-answer cannot be combined with --until and --fails-on"
            ),
            (["latency"], "needs --question TEXT"), (["verify"], "there are no checks for the family raw"),
            (
                ["--family", "pump", "-p", "/dev/null", "latency", "--question", "X"],
                "--question needs --family raw"
            ),
        ])
    func usage(arguments: [String], text: String) async throws {
        let place = arguments[0].hasPrefix("-") ? [] : ["-p", "sim:raw"]
        let ending = try await Pumpctl.start(place + arguments).ending()
        #expect(ending.status == 64)
        #expect(ending.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(text), "\(ending)")
    }

    @Test("An invalid script is refused with its line")
    func badScript() async throws {
        let ending = try await Pumpctl.run("-p", script("> A\nB\n"), "send", "A")
        #expect(ending.status == 64)
        #expect(ending.errors.contains("script:2: not a valid line of a script"), "\(ending)")
        let offered = try await Pumpctl.run("sim", "raw", "--script", folder.path("none"))
        #expect(offered.status == 66 && offered.errors.contains("No such file"), "\(offered)")
    }

    @Test("A reply that does not end in time is reported differently from no reply")
    func cutOff() async throws {
        let place = script("> A\n< busy\n")
        let cutOff = try await Pumpctl.run("-p", place, "--timeout", "0.2", "send", "A", "--until", "ok")
        #expect(cutOff.status == 75 && cutOff.output == "busy\n")
        #expect(cutOff.errors.contains("no complete answer in 0.2 s"), "\(cutOff)")
        let silent = try await Pumpctl.run("-p", place, "--timeout", "0.2", "send", "B", "--until", "ok")
        #expect(silent.status == 75 && silent.errors.contains("no answer in 0.2 s"), "\(silent)")
    }

    @Test("With --family raw, send neither refuses a line nor warns, and status is unavailable")
    func anyDevice() async throws {
        let status = try await Pumpctl.run(
            "-p", "sim:pump?unpaced", "--family", "raw", "send", "STATUS", "--until", "STATUS:*")
        #expect(status.status == 0 && status.errors == "" && status.output.hasPrefix("STATUS:{State:OFF"), "\(status)")
        let speed = try await Pumpctl.run(
            "-p", "sim:pump?unpaced", "--family", "raw", "send", "SPEED:300", "--until", "ERROR:*")
        #expect(speed.status == 0, "\(speed)")
        let wrong = try await Pumpctl.run("-p", "sim:raw", "status")
        #expect(wrong.status == 64 && wrong.errors.contains("family raw"), "\(wrong)")
    }

    @Test("monitor prints every line of a raw device up to --count")
    func monitor() async throws {
        let place = script("< Hello\n< there\n< again\n")
        let ending = try await Pumpctl.run("-p", place, "monitor", "--count", "2")
        #expect(ending.status == 0 && ending.errors == "", "\(ending)")
        let texts = ending.output.split(separator: "\n").map { $0.split(separator: " ").last }
        #expect(texts == ["Hello", "there"])
    }

    @Test("Another program's OFF is sent to a raw device")
    func off() async throws {
        let device = try await ScriptedDevice { line in
            ["OFF": "OK\r\nPUMP:OFF\r\n", "TEMP": "TEMP:34.5\r\n", "STATUS": "STATUS:{State:OFF}\r\n"][line] ?? ""
        }
        let holder = try await Pumpctl.start(["-p", device.port, "--family", "raw", "monitor", "-v"])
        try await holder.errors.text(upTo: "is open")
        let ending = try await Pumpctl.run("-p", device.port, "off")
        #expect(ending.status == 0 && ending.output.contains("pump off"), "\(ending)")
        holder.send(signal: SIGTERM)
        try await holder.ending()
        await device.close()
    }
}
