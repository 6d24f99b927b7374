import CaptureFormat
import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import FoundationEssentials
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import pumpctl

@Suite("Captures by pumpctl", .timeLimit(.minutes(5)))
struct CaptureCommandTests {
    private let folder = TemporaryFolder()

    /// The path of a capture in the test's folder.
    private func capture(_ name: String = "capture") -> String { folder.path(name) }

    /// The received pieces of a capture, in order.
    private static func received(_ path: String) throws -> [CaptureEvent.Piece] {
        var reader = try CaptureReader(path)
        var pieces: [CaptureEvent.Piece] = []
        while let event = try reader.next() {
            if case .received(let piece) = event.content { pieces.append(piece) }
        }
        return pieces
    }

    @Test(
        "The same session over BLE and over a serial port decodes to the same lines",
        arguments: [
            ["status"], ["temp"], ["send", "STATUS"], ["on", "--speed", "200", "--for", "0.1s"],
        ])
    func carriers(words: [String]) async throws {
        let serial = try await BenchPump()
        let radio = try await BLEPump()
        let overSerial = try await Pumpctl.start(["-p", serial.port, "--capture", capture("serial")] + words).ending()
        let overRadio = try await Pumpctl.start(
            ["-p", "ble:HMSoft", "--capture", capture("radio")] + words, environment: radio.bus.environment
        ).ending()
        #expect(overSerial.status == 0, "\(overSerial)")
        #expect(overRadio.status == 0, "\(overRadio)")
        #expect(overSerial.output == overRadio.output)
        let pieces = try (Self.received(capture("serial")), Self.received(capture("radio")))
        // `send` reads from the link, which may join two notifications into one piece. The other commands register a
        // receiver with the link, which gets each notification separately.
        if words[0] != "send" { #expect(pieces.1.allSatisfy { $0.bytes.count <= 20 }) }
        #expect(pieces.0.flatMap(\.lines) == pieces.1.flatMap(\.lines))
        #expect(!pieces.0.flatMap(\.lines).isEmpty)
        await serial.close()
        await radio.fake.stop()
    }

    @Test("The replay of a recorded command prints the same output")
    func record() async throws {
        let pump = try await BenchPump()
        for (number, words) in [["status"], ["on"], ["speed", "60%"], ["--json", "temp"], ["off"]].enumerated() {
            let file = capture("\(number)")
            let original = try await Pumpctl.start(["-p", pump.port, "record", file, "--"] + words).ending()
            #expect(original.status == 0, "\(original)")
            let replay = try await Pumpctl.start(["-p", "replay:\(file)?pace=none"] + words).ending()
            #expect(replay.status == 0, "\(replay)")
            #expect(replay.output == original.output)
        }
        await pump.close()
    }

    @Test("record shares the port with another program and exits with its status")
    func otherProgram() async throws {
        let pump = try await BenchPump()
        let script = #"exec 3<>"$PUMPCTL_PORT"; printf 'TEMP\n' >&3; read -r line <&3; echo "$line"; exit 5"#
        let ending = try await Pumpctl.run("-p", pump.port, "record", capture(), "--", "sh", "-c", script)
        #expect(ending.status == 5, "\(ending)")
        #expect(
            ending.output == "TEMP:{Water:12.0C,Skin:34.5C}\r\n" || ending.output == "TEMP:{Water:12.0C,Skin:34.5C}\n")
        #expect(try Self.received(capture()).flatMap(\.lines) == ["TEMP:{Water:12.0C,Skin:34.5C}"])
        let unknown = try await Pumpctl.run("-p", pump.port, "record", capture("x"), "--", "/nosuch/program")
        expectFailure(unknown, 127, saying: "/nosuch/program", hint: "name a program")
        await pump.close()
    }

    @Test("If the program cannot be started, no file is created or changed")
    func noProgram() async throws {
        let folder = TemporaryFolder()
        let page = folder.write("no program", to: "page")
        for (program, status) in [
            ("/nosuch/program", Int32(127)), ("no-such-program", 127), (page, 126), (folder.path, 126),
        ] {
            let ending = try await Pumpctl.run("-v", "-p", "sim:pump", "record", folder.path("new"), "--", program)
            expectFailure(ending, status, saying: program, hint: "name a program")
            #expect(!FileManager.default.fileExists(atPath: folder.path("new")), "\(program)")
            // The device was not opened either.
            #expect(!ending.errors.contains("is open"), "\(ending.errors)")
        }
        let ending = try await Pumpctl.run("-p", "sim:pump", "record", page, "--", "no-such-program")
        #expect(ending.status != 0)
        #expect(folder.read("page") == Array("no program".utf8))
    }

    @Test("An existing capture file stops every command except off")
    func existing() async throws {
        let pump = try await BenchPump(isOn: true)
        _ = folder.write("precious", to: "capture")
        let status = try await Pumpctl.run("-p", pump.port, "--capture", capture(), "on")
        expectFailure(status, 64, saying: capture(), "exists", hint: "name another file")
        let off = try await Pumpctl.run("-p", pump.port, "--capture", capture(), "off")
        #expect(off.status == 0, "\(off)")
        #expect(off.errors.contains("capturing failed"))
        #expect(await pump.duty() == nil)
        #expect(folder.read("capture") == Array("precious".utf8))
        await pump.close()
    }

    @Test("If not even the header can be written, the command fails and no file is left")
    func noHeader() async throws {
        let limited = ["/bin/sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\"", Executable.pumpctl]
        let ending = try await Pumpctl.start(
            ["-p", "sim:pump", "--capture", capture(), "status"], program: limited
        ).ending()
        expectFailure(ending, 74, saying: capture(), "File too large", hint: "ulimit -f")
        #expect(access(capture(), F_OK) != 0)
        #expect(try await Pumpctl.run("-p", "sim:pump", "--capture", capture(), "status").status == 0)
    }

    @Test("If the capture cannot be continued, this is reported once and the command goes on")
    func fullDisk() async throws {
        let pump = try await BenchPump()
        // The shell counts in blocks of 512 bytes, so the limit is a few lines of the capture.
        let limited = ["/bin/sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\"", Executable.pumpctl]
        let ending = try await Pumpctl.start(
            ["-p", pump.port, "--capture", capture(), "on", "--speed", "200", "--for", "0.1s"], program: limited
        ).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.hasSuffix("pump off\n"))
        #expect(ending.errors.components(separatedBy: "the capture ends here").count == 2, "\(ending.errors)")
        #expect(ending.errors.contains("File too large") && ending.errors.contains("ulimit -f"), "\(ending.errors)")
        // The capture is readable up to its end.
        #expect(try await Pumpctl.run("replay", capture()).status == 0)
        await pump.close()
    }

    @Test("The capture of a killed program is readable up to its last line")
    func killed() async throws {
        let pump = try await BenchPump()
        let watch = try FolderWatch(folder.path)
        let monitor = try await Pumpctl.start(["-p", pump.port, "--capture", capture(), "monitor"])
        _ = try await watch.wait(for: "the status in the capture") {
            String(decoding: folder.read("capture"), as: UTF8.self).contains("34.5C}") ? true : nil
        }
        monitor.send(signal: SIGKILL)
        _ = try await monitor.ending()
        let shown = try await Pumpctl.run("replay", capture())
        #expect(shown.status == 0, "\(shown)")
        #expect(shown.output.contains("> STATUS\n"))
        #expect(shown.output.contains("< STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\n"))
        await pump.close()
    }

    @Test("A replayed command that departs from its capture fails, and the message names the capture's line")
    func departs() async throws {
        let pump = try await BenchPump()
        _ = try await Pumpctl.run("-p", pump.port, "--capture", capture(), "status")
        let temp = try await Pumpctl.run("-p", "replay:\(capture())?pace=none", "temp")
        expectFailure(
            temp, 74, saying: "\(capture()):3: expected \"STATUS\\n\", got \"TEMP\\n\"", hint: "pumpctl replay")
        let other = try await Pumpctl.run("-p", "replay:\(capture())?pace=fast", "temp")
        expectFailure(other, 64, saying: "not a valid endpoint", hint: "original, none")
        let none = try await Pumpctl.run("-p", "replay:\(capture("nosuch"))", "temp")
        expectFailure(none, 66, saying: "nosuch", hint: "--capture")
        await pump.close()
    }

    @Test("A replayed run that departs from its capture fails at once", arguments: ["none", "original"])
    func runDeparts(pace: String) async throws {
        let pump = try await BenchPump()
        let file = capture()
        let original = try await Pumpctl.run("-p", pump.port, "--capture", file, "on", "--for", "0.1s")
        #expect(original.status == 0, "\(original)")
        let replay = try await Pumpctl.run("-p", "replay:\(file)?pace=\(pace)", "on", "--speed", "99", "--for", "0.1s")
        expectFailure(replay, 74, saying: "departs from the capture", "SPEED:99", hint: "pumpctl replay")
        await pump.close()
    }

    @Test("replay prints lines, pieces or JSON, and reports a cut-off line")
    func shown() async throws {
        let text = #"""
            {"pumpctl_capture":1,"program":"pumpctl 0.1.0","family":"pump","started":"2026-11-25T07:00:00.000Z"}
            {"time_s":0.000500,"link":1,"event":"opened","endpoint":"ble:HMSoft","name":"ble:HMSoft","keeps_packet_bounds":false,"is_device_address_stable":true,"may_have_reset":false,"may_be_mid_line":false}
            {"time_s":0.001000,"link":1,"event":"sent","text":"ON\u000a","lines":["ON"]}
            {"time_s":0.100000,"link":1,"event":"received","text":"OK\u000d"}
            {"time_s":0.101000,"link":1,"event":"received","text":"\u000aPUMP:ON\u000d\u000aSTAT","lines":["PUMP:ON"]}
            {"time_s":0.200000,"link":1,"event":"ended","error":"disconnected"}
            {"time_s":0.3
            """#
        let file = folder.write(text, to: "capture")
        let lines = try await Pumpctl.run("replay", file)
        #expect(
            lines.output == """
                pump, captured by pumpctl 0.1.0 at 2026-11-25T07:00:00.000Z
                    0.000500 * ble:HMSoft is open
                    0.001000 > ON
                    0.100000 < OK
                    0.101000 < PUMP:ON
                    0.200000 < STAT (no line end)
                    0.200000 * the link ended: disconnected

                """)
        #expect(lines.errors.contains("line 7 is cut off"))
        let pieces = try await Pumpctl.run("replay", file, "--pieces")
        #expect(pieces.output.contains("    0.101000 < \\x0aPUMP:ON\\x0d\\x0aSTAT\n"))
        let json = try await Pumpctl.run("--json", "replay", file)
        #expect(json.output.split(separator: "\n") == text.split(separator: "\n").dropLast())
    }

    @Test("--as-test prints the fixture of the captured session")
    func fixture() async throws {
        let source = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let ending = try await Pumpctl.run("replay", "/\(source)/pump.capture", "--as-test")
        #expect(ending.status == 0, "\(ending)")
        let written = try #require(TextFile.contents(of: "/\(source)/ScriptedSession+Captured.swift"))
        #expect(ending.output == written)
    }

    @Test("A captured session plays as a scripted test")
    func scripted() async throws {
        let link = ScriptedSession.captured.link()
        async let departure = ScriptedSession.captured.play(on: link)
        let pump = try await PumpSession.begin(over: link, clock: ManualClock())
        #expect(try await pump.readStatus().power == .off)
        #expect(try await pump.readTemperatures().skin?.celsius == 34.5)
        #expect(await departure == nil)
        await pump.close()
    }

    @Test("Memory use does not grow with the capture", arguments: [["replay"], ["send"]])
    func memory(words: [String]) async throws {
        let sizes = try [1 << 20, 6 << 20].map { size in
            let file = try CaptureFile(
                at: capture("\(size)"), CaptureHeader(program: "test", family: "storm", started: ""))
            try file.append(CaptureEvent(at: .zero, link: 1, .opened(CarrierFacts(endpoint: "x", name: "x"))))
            try file.append(CaptureEvent(at: .zero, link: 1, .sent(.init(Array("GET_LOG\n".utf8)))))
            let line = Array(("LIVE LOG: " + String(repeating: "1 2 3 4 ", count: 500) + "\n").utf8)
            for _ in 0..<size / line.count { try file.append(CaptureEvent(at: .zero, link: 1, .received(.init(line)))) }
            return file.path
        }
        var peaks: [Int] = []
        for path in sizes {
            let arguments =
                words == ["replay"]
                ? ["replay", path] : ["-p", "replay:\(path)?pace=none", "--family", "storm", "send", "GET_LOG"]
            let script = """
                import resource, subprocess, sys
                status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
                print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
                """
            let ending = try await ChildProcess(["/usr/bin/python3", "-c", script, Executable.pumpctl] + arguments)
                .ending()
            let numbers = ending.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            #expect(numbers.first == 0, "\(ending)")
            peaks.append(numbers.last ?? 0)
        }
        // In KiB. The second capture has 5 MiB more than the first.
        #expect(peaks[1] - peaks[0] < 3000, "\(peaks)")
    }
}
