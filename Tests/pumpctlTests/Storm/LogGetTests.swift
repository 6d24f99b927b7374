import DescriptorIO
import FirmwareSim
import Foundation
import SerialPort
import TestSupport
import Testing

@Suite("pumpctl storm log get")
struct LogGetTests {
    static let log = "1 2 3 4.50\n4 5 6 -7.00\n"

    /// A sensor that replies to GET_LOG with the command's echo and ``log``. Any other line unplugs it.
    private func sensor() async throws -> ScriptedDevice {
        try await ScriptedDevice { $0 == "GET_LOG" ? "GET_LOG\r\nLOG Values: \(Self.log)" : nil }
    }

    @Test("The log is printed unchanged and alone")
    func standardOutput() async throws {
        let sensor = try await sensor()
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get")
        #expect(ending.status == 0)
        #expect(ending.output == Self.log)
        #expect(ending.errors == "")
        #expect(sensor.heard.state.text == "GET_LOG\n")
        await sensor.close()
    }

    @Test("-o replaces the file and reports the size")
    func file() async throws {
        let sensor = try await sensor()
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "storm.log")
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get", "-o", path)
        #expect(ending.status == 0)
        #expect(ending.output == "\(Self.log.utf8.count) bytes in \(path)\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.log)
        #expect(access(path + ".partial", F_OK) != 0)

        let record = try await Pumpctl.run("-p", sensor.port, "--json", "storm", "log", "get", "-o", path).object()
        #expect(record["bytes"] as? Int == Self.log.utf8.count)
        #expect(record["file"] as? String == path)
        #expect(record["live_rows"] as? Int == 0)
        await sensor.close()
    }

    @Test("The partial file of an earlier log is kept until the next log begins")
    func earlierPart() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("storm.log")
        let part = folder.write("1 2 3 4.50\n4 5", to: "storm.log.partial")
        #expect(try await Pumpctl.run("-p", folder.path("nowhere"), "storm", "log", "get", "-o", path).status == 66)
        #expect(try String(contentsOfFile: part, encoding: .utf8) == "1 2 3 4.50\n4 5")
        let silent = try await ScriptedDevice()
        #expect(
            try await Pumpctl.run("-p", silent.port, "--timeout", "0.1", "storm", "log", "get", "-o", path).status == 75
        )
        #expect(try String(contentsOfFile: part, encoding: .utf8) == "1 2 3 4.50\n4 5")
        await silent.close()

        let cutting = try await CuttingSensor("LOG Values: 7\n")
        #expect(try await Pumpctl.run("-p", cutting.endpoint, "storm", "log", "get", "-o", path).status == 74)
        #expect(try String(contentsOfFile: part, encoding: .utf8) == "7\n")
        await cutting.close()
        let sensor = try await sensor()
        #expect(try await Pumpctl.run("-p", sensor.port, "storm", "log", "get", "-o", path).status == 0)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.log)
        #expect(access(part, F_OK) != 0)
        await sensor.close()
    }

    @Test("A log that is cut off exits with 74, keeps the partial log and the old file")
    func cutOff() async throws {
        let sensor = try await CuttingSensor("LOG Values: 1 2 3 4.50\n4 5")
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "storm.log")
        let ending = try await Pumpctl.run("-p", sensor.endpoint, "--json", "storm", "log", "get", "-o", path)
        expectFailure(ending, 74, saying: "incomplete", hint: "14 bytes of it are in \(path).partial")
        #expect(try ending.object()["outcome"] as? String == "incomplete")
        #expect(try String(contentsOfFile: path + ".partial", encoding: .utf8) == "1 2 3 4.50\n4 5")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "of yesterday")

        let printed = try await Pumpctl.run("-p", sensor.endpoint, "storm", "log", "get")
        expectFailure(printed, 74, saying: "incomplete", hint: "14 bytes of it were printed")
        #expect(printed.output == "1 2 3 4.50\n4 5")
        await sensor.close()
    }

    @Test("A link that breaks before the log leaves no file")
    func nothingCame() async throws {
        let sensor = try await CuttingSensor("")
        let folder = TemporaryFolder()
        let path = folder.path("storm.log")
        let ending = try await Pumpctl.run("-p", sensor.endpoint, "storm", "log", "get", "-o", path)
        expectFailure(ending, 74, saying: "the link broke at GET_LOG")
        #expect(access(path, F_OK) != 0)
        #expect(access(path + ".partial", F_OK) != 0)
        await sensor.close()
    }

    @Test("Ctrl-C exits with 130 and reports an incomplete log")
    func interrupted() async throws {
        let sensor = try await sensor()
        let program = try await Pumpctl.start(["-p", sensor.port, "storm", "log", "get", "--quiet", "1000"])
        _ = try await program.output.line()
        _ = try await program.output.line()
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        #expect(ending.status == 130)
        #expect(ending.errors.contains("incomplete: \(Self.log.utf8.count) bytes of it were printed"))
        await sensor.close()
    }

    @Test("Ctrl-C keeps the old file and the partial log")
    func interruptedFile() async throws {
        let sensor = try await sensor()
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "storm.log")
        let program = try await Pumpctl.start(
            ["-p", sensor.port, "-v", "storm", "log", "get", "--quiet", "1000", "-o", path])
        try await program.errors.text(upTo: "< 4 5 6")
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        #expect(ending.status == 130)
        #expect(ending.errors.contains("incomplete: \(Self.log.utf8.count) bytes of it are in \(path).partial"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "of yesterday")
        #expect(try String(contentsOfFile: path + ".partial", encoding: .utf8) == Self.log)
        await sensor.close()
    }

    @Test("-o - writes to standard output")
    func dash() async throws {
        let sensor = try await sensor()
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get", "-o", "-")
        #expect(ending.status == 0)
        #expect(ending.output == Self.log)
        expectFailure(
            try await Pumpctl.run("-p", sensor.port, "--json", "storm", "log", "get", "-o", "-"), 64, hint: "")
        let live = try await Pumpctl.run(
            "-p", "sim:storm?interval=1ms", "storm", "log", "live", "--count", "1", "-o", "-")
        #expect(live.output.split(separator: " ").count == 4)
        let image = try await Pumpctl.run("-p", "sim:peer?unpaced", "peer", "image", "get", "-o", "-")
        #expect(image.status == 0 && !image.output.isEmpty && !image.output.contains("bytes in"))
        await sensor.close()
    }

    @Test("The log is synced to disk before the file is renamed")
    func synchronized() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("storm.log")
        let ending = try await Pumpctl.start(
            ["-p", "sim:storm?rows=3&unpaced", "storm", "log", "get", "-o", path],
            environment: ["LD_PRELOAD": Executable.syncCounter, "SYNC_COUNTER": folder.path("calls")]
        ).ending()
        #expect(ending.status == 0, "\(ending)")
        let calls = try String(contentsOfFile: folder.path("calls"), encoding: .utf8)
        #expect(calls == "sync \(path).partial\nrename \(path)\n")
    }

    @Test("If the sensor restarts during the log, the log is reported as incomplete")
    func restarted() async throws {
        let boot = "ets Jul 29 2019 12:21:46\r\n\r\nrst:0xf (RTCWDT_BROWN_OUT_RESET),boot:0x13\r\nentry 0x400805f0\r\n"
        let sensor = try await ScriptedDevice { $0 == "GET_LOG" ? "LOG Values: 1 2 3 4.50\n4 5 \(boot)" : nil }
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get")
        expectFailure(ending, 74, saying: "the log is incomplete: the sensor has restarted", hint: "power supply")
        #expect(ending.output == "1 2 3 4.50\n4 5 ")
        await sensor.close()
    }

    @Test("If the log begins again in the middle, another program's request is named as the cause")
    func twoReaders() async throws {
        let sensor = try await ScriptedDevice { $0 == "GET_LOG" ? "LOG Values: 1 2 \r\nLOG Values: \(Self.log)" : nil }
        let folder = TemporaryFolder()
        let path = folder.path("storm.log")
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get", "-o", path)
        expectFailure(ending, 74, saying: "another program requested the log too", hint: "stop the other program")
        #expect(access(path, F_OK) != 0)
        await sensor.close()
    }

    @Test(
        "log get refuses invalid options",
        arguments: [
            ["--json", "storm", "log", "get"], ["--family", "pump", "storm", "log", "get"],
            ["storm", "log", "get", "--quiet", "0"],
        ])
    func wrongOptions(words: [String]) async throws {
        let ending = try await Pumpctl.start(["-p", "sim:storm"] + words).ending()
        expectFailure(ending, 64, hint: "")
    }

    @Test(
        "The reply of a device of another family is refused, and the file is not changed",
        arguments: [
            ("ERROR:UNKNOWN_COMMAND\r\n", "use a command of the family pump"), ("what?\r\n", "of the family storm"),
            ("LED:1\r\n", "family led"),
        ])
    func otherDevice(answer: String, hint: String) async throws {
        let device = try await ScriptedDevice { $0 == "GET_LOG" ? answer : nil }
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "storm.log")
        let ending = try await Pumpctl.run("-p", device.port, "storm", "log", "get", "-o", path)
        expectFailure(ending, 76, saying: String(answer.dropLast()), hint: hint)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "of yesterday")
        #expect(access(path + ".partial", F_OK) != 0)
        expectFailure(try await Pumpctl.run("-p", device.port, "storm", "log", "get"), 76)
        await device.close()
    }

    @Test("A line that is no measurement is kept, with a warning")
    func oddLines() async throws {
        let log = "1 2 3 4.50\n1 2 3 4.501 2 3 4.60\n4 5 6 -7.00\n"
        let sensor = try await ScriptedDevice { $0 == "GET_LOG" ? "LOG Values: \(log)" : nil }
        let ending = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get")
        #expect(ending.status == 0 && ending.output == log, "\(ending)")
        #expect(
            ending.errors.contains("warning: 1 line of the log is not a measurement: 1 2 3 4.501 2 3 4.60\n  hint: "))
        await sensor.close()
    }

    @Test("On a terminal control characters in the log are escaped")
    func terminalText() async throws {
        let log = "1 2 3 4.50\n\u{1B}]0;title\u{7}\u{1B}[2J 2 3 4\u{202E}\n4 5 6 7"
        let sensor = try await ScriptedDevice { $0 == "GET_LOG" ? "LOG Values: \(log)" : nil }
        let user = try await TerminalTests.UserTerminal()
        let program = try await Pumpctl.start(["-p", sensor.port, "storm", "log", "get"], terminal: user.path)
        #expect(try await program.ending().status == 0)
        let shown = try await user.screen.text(upTo: "4 5 6 7")
        #expect(shown.hasSuffix("1 2 3 4.50\r\n\\x1b]0;title\\x07\\x1b[2J 2 3 4\\u{202e}\r\n4 5 6 7"), "\(shown)")
        let piped = try await Pumpctl.run("-p", sensor.port, "storm", "log", "get")
        #expect(piped.output == log)
        await user.close()
        await sensor.close()
    }

    @Test("A terminal shows the progress of a log")
    func progress() async throws {
        let terminal = try PseudoTerminal()
        let channel = terminal.channel()
        let shown = Watched(ReceivedText())
        await channel.gather(into: shown)
        let folder = TemporaryFolder()
        // The transfer of 600 rows takes longer than the delay before the first progress is shown.
        let program = try await Pumpctl.start(
            ["-p", "sim:storm?rows=600", "storm", "log", "get", "-o", folder.path("storm.log")], terminal: terminal.path
        )
        let text = try await shown.wait(for: "the end") { $0.text.contains("bytes in") ? $0.text : nil }
        #expect(text.contains("kB/s"))
        #expect(try await program.ending().status == 0)
        await channel.close()
    }

    @Test("sim:storm prints the log of its seed")
    func simulated() async throws {
        let ending = try await Pumpctl.run("-p", "sim:storm?seed=7&rows=20&echo&unpaced", "storm", "log", "get")
        #expect(ending.output == String(decoding: StormLog(seed: 7).text(rows: 0..<20), as: UTF8.self))
        expectFailure(
            try await Pumpctl.run("-p", "sim:storm?rows=-1", "storm", "log", "get"), 64, saying: "rows", hint: "")
        expectFailure(
            try await Pumpctl.run("-p", "sim:storm?interval=x", "storm", "log", "get"), 64, saying: "sim:storm")
    }
}

/// A sensor on TCP that replies to the first input of each client with `text`, and hangs up.
private struct CuttingSensor {
    let endpoint: String
    private let listener: SocketListener

    init(_ text: String) async throws {
        let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        self.listener = listener
        endpoint = "tcp:127.0.0.1:\(listener.port ?? 0)"
        Task {
            while let connection = try? await listener.accept() {
                _ = try? await connection.read()
                try? await connection.write(Array(text.utf8))
                await connection.close()
            }
        }
    }

    func close() async { await listener.close() }
}
