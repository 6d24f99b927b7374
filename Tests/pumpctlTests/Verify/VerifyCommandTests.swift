import FirmwareSim
import Foundation
import FoundationXML
import Glibc
import TestSupport
import Testing

@Suite("pumpctl verify", .timeLimit(.minutes(3)))
struct VerifyCommandTests {
    /// The arguments for seven quick checks of a pump.
    private static let few = ["verify", "--only", "pump.status", "pump.command.unknown"]

    @Test("For a correct firmware, verify exits with 0 and prints a line for each check")
    func passes() async throws {
        let pump = try await BenchPump()
        let ending = try await Pumpctl.start(["--family", "pump", "--port", pump.port] + Self.few).ending()
        await pump.close()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains("ok    pump.status.reply\n"))
        #expect(ending.output.contains("skip  pump.status.on-fields: needs permission to run the pump: --allow-run\n"))
        #expect(ending.output.contains("\n4 passed, 0 failed, 3 skipped\n"))
        #expect(ending.errors.isEmpty, "\(ending.errors)")
    }

    @Test(
        "For a faulty firmware, verify exits with 2 and reports the failed check in each format",
        arguments: ["text", "tap", "junit", "json"])
    func fails(report: String) async throws {
        let device = try await ScriptedDevice { line in
            line == "FOO"
                ? "<what?>\r\n" : line == "OFF" ? "OK\r\nPUMP:OFF\r\n" : "STATUS:{State:OFF,SkinTemp:34.0C}\r\n"
        }
        let ending = try await Pumpctl.start(["--port", device.port] + Self.few + ["--report", report]).ending()
        await device.close()
        #expect(ending.status == 2, "\(ending)")
        switch report {
        case "tap":
            #expect(ending.output.hasPrefix("TAP version 14\n1..7\nok - pump.status.reply\n"))
            #expect(ending.output.contains("not ok - pump.command.unknown\n  ---\n"))
            #expect(ending.output.contains("got: \"<what?>\""))
        case "junit":
            #expect(XMLParser(data: Data(ending.output.utf8)).parse(), "\(ending.output)")
            #expect(ending.output.contains("got &lt;what?&gt;"))
        case "json":
            let objects = try ending.objects()
            let failed = try #require(objects.first { $0["outcome"] as? String == "failed" })
            #expect(failed["got"] as? String == "<what?>")
            #expect(failed["sent"] as? [String] == ["FOO\\n", "\\nOFF\\n", "STATUS\\n"])
            #expect(objects.last?["failed"] as? Int == 1)
        default: #expect(ending.output.contains("        got:      <what?>\n"))
        }
    }

    @Test(
        "A running pump is not touched, and each report but the text names the reason",
        arguments: ["text", "tap", "junit", "json"])
    func runs(report: String) async throws {
        let pump = try await BenchPump(isOn: true)
        let ending = try await Pumpctl.run("--port", pump.port, "verify", "--allow-run", "--report", report)
        #expect(await pump.duty() == 180)
        await pump.close()
        expectFailure(ending, 69, saying: "the pump is running", hint: "pumpctl off")
        try Self.expectAbandoned(ending, report, saying: "the pump is running", "pump_runs")
    }

    @Test(
        "If the port is missing, each report but the text has the error", arguments: ["text", "tap", "junit", "json"])
    func noPort(report: String) async throws {
        let ending = try await Pumpctl.run("--port", "/nowhere/tty", "verify", "--report", report)
        expectFailure(ending, 66, saying: "/nowhere/tty")
        try Self.expectAbandoned(ending, report, saying: "/nowhere/tty", "not_found")
    }

    @Test("With --json a refusal is one object")
    func refusalAsJSON() async throws {
        let pump = try await BenchPump(isOn: true)
        let ending = try await Pumpctl.run("--json", "--port", pump.port, "verify")
        await pump.close()
        #expect(try ending.object()["error"] as? String == "pump_runs")
    }

    /// Expects a report without checks: TAP has the reason, JUnit and JSON also the error code. The text report is empty,
    /// because pumpctl prints the reason as an error.
    private static func expectAbandoned(
        _ ending: ChildProcess.Ending, _ report: String, saying words: String, _ code: String
    ) throws {
        switch report {
        case "tap":
            let lines = ending.output.split(separator: "\n")
            #expect(lines.count == 2 && lines.first == "TAP version 14", "\(ending.output)")
            #expect(lines.last?.hasPrefix("Bail out! ") == true && lines.last?.contains(words) == true)
        case "junit":
            #expect(XMLParser(data: Data(ending.output.utf8)).parse(), "\(ending.output)")
            #expect(ending.output.contains("tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""))
            #expect(ending.output.contains("<error type=\"\(code)\" message=\""), "\(ending.output)")
            #expect(ending.output.contains(words))
        case "json":
            let object = try ending.object()
            #expect(object["ok"] as? Bool == false && object["error"] as? String == code)
            #expect((object["message"] as? String)?.contains(words) == true)
        default: #expect(ending.output.isEmpty)
        }
    }

    // MARK: The family

    @Test("Without --family a port is taken for a pump, with a note", arguments: ["verify", "latency"])
    func assumedFamily(command: String) async throws {
        let pump = try await BenchPump()
        let few = command == "verify" ? ["--only", "pump.status.reply"] : ["--count", "2", "--interval", "5ms"]
        let ending = try await Pumpctl.start(["--port", pump.port, command] + few).ending()
        let named = try await Pumpctl.start(["--family", "pump", "--port", pump.port, command] + few).ending()
        await pump.close()
        #expect(ending.status == 0 && named.status == 0, "\(ending)\n\(named)")
        #expect(ending.errors.contains("pumpctl: \(pump.port): no --family is given; assuming a pump\n"), "\(ending)")
        #expect(ending.errors.contains("  hint: name the family of another device: --family "), "\(ending)")
        #expect(named.errors.isEmpty, "\(named.errors)")
    }

    @Test("The family of a device from sim --run is known", arguments: ["verify", "latency"])
    func handedOver(command: String) async throws {
        let few = command == "verify" ? ["--only", "led.ask"] : ["--count", "2", "--interval", "5ms"]
        let ending = try await Pumpctl.start(["sim", "led", "--run", "--", Executable.pumpctl, command] + few).ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains(command == "verify" ? "ok    led.ask\n" : " 2 answers to LED\n"), "\(ending)")
        #expect(ending.errors.isEmpty, "\(ending.errors)")
    }

    @Test(
        "A simulated BLE module is not verified or measured, and not opened", arguments: ["verify", "latency"],
        [[], ["--family", "pump"]])
    func module(command: String, family: [String]) async throws {
        let ending = try await Pumpctl.start(["-v", "--port", "sim:module"] + family + [command]).ending()
        expectFailure(ending, 64, saying: "sim:module", hint: "sim:pump")
        #expect(!ending.errors.contains("is open") && !ending.errors.contains("> "), "\(ending.errors)")
    }

    @Test("A stimulus for another device is refused")
    func otherHands() async throws {
        let (pump, folder) = (try await BenchPump(), TemporaryFolder())
        let control = folder.path("control")
        let ending = try await Pumpctl.run(
            "sim", "pump", "--control", control, "--run", "--", Executable.pumpctl, "--port", pump.port, "verify",
            "--allow-run", "--only", "pump.button", "--stimulus", control)
        await pump.close()
        expectFailure(ending, 64, saying: "not the device at \(pump.port)", hint: "control socket of the tested device")
        #expect(ending.output.isEmpty)
    }

    @Test("An interrupted verification leaves the pump off", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let pump = try await BenchPump()
        // The check pump.unasked.status runs the pump and waits for an unsolicited line, which never comes: the pump's
        // time stands still.
        let process = try await Pumpctl.start([
            "-v", "--port", pump.port, "verify", "--allow-run", "--only", "pump.on.reply", "pump.unasked.status",
            "--report",
            "tap",
        ])
        _ = try await process.output.line("the plan")
        _ = try await process.output.line("the plan")
        while try await process.output.line("the first point") != "  ..." {}
        // Wait until both checks have switched the pump on.
        for _ in 1...2 { try await process.errors.text(upTo: "< PUMP:ON") }
        process.send(signal: signal)
        let ending = try await process.ending()
        #expect(ending.status == 128 + signal, "\(ending)")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("An unplugged pump is reported as off before, not as off or on now")
    func unplugged() async throws {
        let device = try await ScriptedDevice { line in
            line == "FOO" ? nil : "STATUS:{State:OFF,SkinTemp:34.0C}\r\n"
        }
        let ending = try await Pumpctl.start(["--port", device.port] + Self.few).ending()
        expectFailure(
            ending, 74, saying: "the pump was off before the checks, and ON was not sent", hint: "pumpctl status")
        // Nothing is said about the state after the unplugging.
        for word in ["may be on", "pump is off"] { #expect(!ending.errors.contains(word), "\(ending.errors)") }
    }

    @Test("A firmware that crashes at a command fails that check in each report", arguments: ["tap", "junit", "json"])
    func crashes(report: String) async throws {
        let device = try await ScriptedDevice { line in
            line == "FOO" ? nil : "STATUS:{State:OFF,SkinTemp:34.0C}\r\n"
        }
        let ending = try await Pumpctl.start(["--port", device.port] + Self.few + ["--report", report]).ending()
        #expect(ending.status == 74, "\(ending)")
        switch report {
        case "tap":
            #expect(ending.output.contains("not ok - pump.command.unknown\n"), "\(ending.output)")
            #expect(ending.output.contains("\nBail out! "), "\(ending.output)")
        case "junit":
            #expect(XMLParser(data: Data(ending.output.utf8)).parse(), "\(ending.output)")
            // Seven checks, and an entry for the lost link.
            #expect(ending.output.contains(" tests=\"8\" failures=\"1\" errors=\"1\" "), "\(ending.output)")
            #expect(ending.output.contains("&gt; FOO\\n"), "\(ending.output)")
        default:
            let objects = try ending.objects()
            #expect(objects.last?["ok"] as? Bool == false && objects.last?["error"] is String, "\(ending.output)")
            #expect(
                objects.first { $0["outcome"] as? String == "failed" }?["check"] as? String == "pump.command.unknown")
        }
    }

    @Test("An interrupted check is an error in the JUnit report")
    func interruptedReport() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "FOO": ""
            case "OFF": "OK\r\nPUMP:OFF\r\n"
            default: "STATUS:{State:OFF,SkinTemp:34.0C}\r\n"
            }
        }
        let process = try await Pumpctl.start(["-v", "--port", device.port] + Self.few + ["--report", "junit"])
        try await process.errors.text(upTo: "> FOO")
        process.send(signal: SIGINT)
        let ending = try await process.ending()
        await device.close()
        #expect(ending.output.contains(" errors=\"1\" "), "\(ending)")
    }

    /// A pump that replies only to STATUS and ON, and says that it is off.
    private static func pumpWithoutOff() async throws -> ScriptedDevice {
        try await ScriptedDevice { line in
            switch line {
            case "ON": "OK\r\nPUMP:ON\r\n"
            case "STATUS": "STATUS:{State:OFF,SkinTemp:34.0C}\r\n"
            default: ""
            }
        }
    }

    @Test("A pump unplugged after ON is reported as possibly on, at most once per line of output")
    func unpluggedOn() async throws {
        let device = try await ScriptedDevice { line in
            line == "ON" ? nil : line == "STATUS" ? "STATUS:{State:OFF,SkinTemp:34.0C}\r\n" : ""
        }
        let ending = try await Pumpctl.run(
            "--port", device.port, "verify", "--allow-run", "--only", "pump.on.reply")
        expectFailure(ending, 74, saying: "the pump may be on", hint: "switch off the supply of the pump")
        for line in ending.errors.split(separator: "\n") {
            #expect(line.components(separatedBy: "may be on").count <= 2, "\(line)")
        }
    }

    @Test("A second signal ends verify at once, with a warning only if the pump may be on", arguments: [true, false])
    func givenUp(isSentOn: Bool) async throws {
        let device = try await Self.pumpWithoutOff()
        let process = try await Pumpctl.start([
            "-v", "--port", device.port, "verify", "--allow-run", "--only",
            isSentOn ? "pump.on.case" : "pump.command.unknown",
        ])
        // The pump replies neither to `on` nor to FOO, so verify waits when the signals come.
        try await process.errors.text(upTo: isSentOn ? "> on" : "> FOO")
        process.send(signal: SIGINT)
        await process.sendUntilTheEnd(signal: SIGTERM)
        let ending = try await process.ending()
        await device.close()
        if isSentOn {
            expectFailure(
                ending, 130, saying: "given up: the pump may be on", hint: "switch off the supply of the pump")
        } else {
            #expect([130, 143].contains(ending.status), "\(ending)")
            #expect(!ending.errors.contains("may be on"), "\(ending.errors)")
        }
    }

    @Test("--list prints the checks with their requirements")
    func list() async throws {
        let ending = try await Pumpctl.run("verify", "--list", "--only", "pump.button")
        #expect(ending.status == 0)
        #expect(
            ending.output.hasPrefix(
                "pump.button.on (--allow-run, --stimulus)\n    protocols.md#pump-32: MANUAL:ON when the button has started the pump\n"
            ))
        let speed = try await Pumpctl.run(
            "--json", "verify", "--list", "--only", "pump.speed", "--except", "pump.speed.atoi", "pump.speed.reply")
        let ids = try speed.objects().compactMap { $0["check"] as? String }
        #expect(ids.contains("pump.speed.percent") && ids.allSatisfy { $0.hasPrefix("pump.speed.") })
        #expect(!ids.contains("pump.speed.reply") && !ids.contains { $0.hasPrefix("pump.speed.atoi") })
        let objects = try await Pumpctl.run("--json", "--family", "led", "verify", "--list").objects()
        #expect(objects.first?["check"] as? String == "led.ask")
    }

    @Test("Invalid arguments are refused before anything is sent")
    func usage() async throws {
        let unknown = try await Pumpctl.run("--port", "sim:pump", "verify", "--only", "pump.nothing")
        expectFailure(unknown, 64, saying: "no check of the family pump", hint: "verify --list")
        for choice in [["--except", "pump.nothing"], ["--only", "pump.speed", "--except", "pump.speed", "led"]] {
            let ending = try await Pumpctl.start(["--port", "sim:pump", "verify"] + choice).ending()
            expectFailure(ending, 64, saying: "no check of the family pump begins with", hint: "verify --list")
        }
        let none = try await Pumpctl.run("--port", "sim:pump", "verify", "--except", "pump.")
        expectFailure(none, 64, saying: "--except leaves out all checks", hint: "verify --list")
        let report = try await Pumpctl.run("--json", "--port", "sim:pump", "verify", "--report", "tap")
        #expect(report.status == 64)
        let socket = try await Pumpctl.run("--port", "sim:pump", "verify", "--stimulus", "/nowhere/control")
        expectFailure(socket, 66, saying: "/nowhere/control", hint: "")
    }

    @Test(
        "Simulated devices of the other families pass",
        arguments: ["led", "storm", "peer?size=1000", "rescue?interval=0"])
    func otherFamilies(device: String) async throws {
        let ending = try await Pumpctl.run("--port", "sim:\(device)", "verify", "--allow-run", "--allow-send")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains(" 0 failed,"))
    }

    @Test("Repeated checks are numbered in each report", arguments: ["text", "tap", "junit", "json"])
    func repeated(report: String) async throws {
        let ending = try await Pumpctl.run(
            "--port", "sim:led", "verify", "--only", "led.ask", "led.now", "--repeat", "2", "--report", report)
        #expect(ending.status == 0, "\(ending)")
        switch report {
        case "tap":
            let lines = ending.output.split(separator: "\n")
            #expect(lines.prefix(2) == ["TAP version 14", "1..4"])
            #expect(
                lines.filter { $0.hasPrefix("ok") } == [
                    "ok - led.ask (1)", "ok - led.now (1) # SKIP needs a stimulus: --stimulus SOCKET",
                    "ok - led.ask (2)", "ok - led.now (2) # SKIP needs a stimulus: --stimulus SOCKET",
                ])
        case "junit":
            #expect(
                ending.output.contains("<testsuite name=\"led\" tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"2\""))
            for round in 1...2 { #expect(ending.output.contains("name=\"led.ask (\(round))\"")) }
        case "json": #expect(try ending.objects().compactMap { $0["round"] as? Int } == [1, 1, 2, 2])
        default:
            #expect(ending.output.contains("ok    led.ask (1)\n") && ending.output.contains("ok    led.ask (2)\n"))
            #expect(ending.output.contains("\n2 passed, 0 failed, 2 skipped\n"))
        }
    }

    @Test("Without --allow-send nothing is sent to a rescue phone")
    func rescueWithoutLeave() async throws {
        let ending = try await Pumpctl.run("-v", "--port", "sim:rescue?interval=0", "verify")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.errors.contains("< ") && !ending.errors.contains("> "), "\(ending.errors)")
        #expect(
            ending.output.contains(
                "skip  rescue.received.once: needs permission to send messages that the device stores: --allow-send\n"))
        let list = try await Pumpctl.run("--family", "rescue", "verify", "--list", "--only", "rescue.received.restart")
        #expect(list.output.hasPrefix("rescue.received.restart (--allow-send, --stimulus)\n"))
    }
}
