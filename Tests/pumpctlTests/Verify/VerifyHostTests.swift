import FakeBlueZ
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl verify --as-device", .timeLimit(.minutes(4)))
struct VerifyHostTests {
    /// Verifies a host that is a bash script, in which $1 is pumpctl.
    ///
    /// - Parameters:
    ///   - only: The beginnings of the checks' names; empty for all checks of the family.
    ///   - isRaw: Whether the script first sets the port to raw mode and opens it as descriptor 3.
    private static func verify(
        _ family: String, _ script: String, only: [String] = [], options: [String] = [], isRaw: Bool = true
    ) async throws -> ChildProcess.Ending {
        let begin = isRaw ? "stty -F $PUMPCTL_PORT ${RATE:-9600} raw -echo; exec 3<>$PUMPCTL_PORT; " : ""
        return try await Pumpctl.start(
            ["--family", family, "verify", "--as-device"] + (only.isEmpty ? [] : ["--only"] + only) + options
                + ["--run", "--", "bash", "-c", begin + script, "host", Executable.pumpctl]
        ).ending()
    }

    /// The outcomes in a report, by check.
    private static func outcomes(_ ending: ChildProcess.Ending) -> [String: String] {
        let lines = ending.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        let pairs = lines.map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        return Dictionary(
            pairs.filter { $0.count >= 2 && $0[1].contains(".host.") }.map {
                (String($0[1].prefix { $0 != ":" }), String($0[0]))
            }, uniquingKeysWith: { $1 })
    }

    /// The failed checks, sorted by name.
    private static func failed(_ ending: ChildProcess.Ending) -> [String] {
        outcomes(ending).filter { $0.value == "FAIL" }.keys.sorted()
    }

    /// A script for a pump's host that sends all commands that the checks need: OFF, ON and STATUS.
    private static let thorough = """
        "$1" --port $PUMPCTL_PORT --timeout 20 off && "$1" --port $PUMPCTL_PORT --timeout 20 on
        """

    @Test("pumpctl passes as the host of each simulated pump")
    func pump() async throws {
        let ending = try await Self.verify("pump", Self.thorough, only: ["pump.host"], isRaw: false)
        #expect(ending.status == 0, "\(ending)")
        let outcomes = Self.outcomes(ending)
        #expect(outcomes.count == 17 && !outcomes.values.contains("FAIL"), "\(ending.output)")
        // This check is skipped if the host has ended before the pump interrupts a reply.
        let skipped = outcomes.filter { $0.value == "skip" }.keys.filter { $0 != "pump.host.interrupting.understands" }
        #expect(skipped.isEmpty, "\(ending.output)")
        #expect(ending.errors.contains("pumpctl: older: an older firmware: "))
        #expect(ending.errors.contains("pump off"))
    }

    @Test(
        "pumpctl passes as the host of the other families",
        arguments: [
            ("storm", "storm log get --quiet 2s"), ("led", "led on"), ("peer", "peer say hello"),
            ("rescue", "rescue send --category Flooding --at 35.9,-79 Water"),
        ])
    func others(family: String, command: String) async throws {
        let folder = TemporaryFolder()
        let script = "XDG_STATE_HOME='\(folder.path)' \"$1\" --port $PUMPCTL_PORT --timeout 20 \(command)"
        let ending = try await Self.verify(family, script, isRaw: false)
        #expect(ending.status == 0, "\(ending)")
        #expect(!ending.output.contains("skip  "), "\(ending.output)")
    }

    /// A host of a pump with one mistake.
    struct BadHost: Sendable, CustomTestStringConvertible {
        /// The mistake.
        var name: String
        var script: String
        /// The simulated pump with which the mistake is found.
        var device: String
        /// The checks that fail.
        var finds: [String]
        var testDescription: String { name }
    }

    private static let badHosts = [
        BadHost(
            name: "sends a number with a sign", script: "printf 'SPEED:+5\\n' >&3; read <&3", device: "plain",
            finds: ["commands"]),
        BadHost(
            name: "sends two commands at once", script: "printf 'TEMP\\nSTATUS\\n' >&3; read <&3; read <&3",
            device: "plain", finds: ["one-in-flight"]),
        BadHost(
            name: "has another baud rate",
            script: "stty -F $PUMPCTL_PORT 19200; printf 'TEMP\\n' >&3; read <&3", device: "plain", finds: ["baud"]),
        BadHost(
            name: "wants a carriage return", script: "printf 'TEMP\\n' >&3; IFS= read -r x <&3; [[ $x == *$'\\r' ]]",
            device: "older", finds: ["understands"]),
        BadHost(
            name: "wants two thermistors", script: "printf 'TEMP\\n' >&3; read x <&3; [[ $x == *Water* ]]",
            device: "one-thermistor", finds: ["understands"]),
        BadHost(
            name: "takes any line for a reply", script: "printf 'TEMP\\n' >&3; read x <&3; [[ $x == TEMP:* ]]",
            device: "talkative", finds: ["understands"]),
        BadHost(
            name: "says OFF once", script: "printf 'OFF\\n' >&3; read -t 1 <&3", device: "unheard",
            finds: ["repeats-off"]),
        BadHost(
            name: "takes an acknowledged OFF for a pump that is off",
            script: "until [[ $x == PUMP:OFF* ]]; do printf 'OFF\\n' >&3; read -t 1 x <&3; read -t 1 x <&3; done",
            device: "unheard", finds: ["repeats-off"]),
        BadHost(
            name: "starts a pump again that was too warm",
            script: """
                printf 'ON\\n' >&3; until [[ $x == ERROR* ]]; do read x <&3; done
                printf 'ON\\n' >&3; read <&3; read <&3
                """, device: "overheating", finds: ["stays-off"]),
    ]

    @Test("A flawed host fails only the check of its flaw", arguments: badHosts)
    func mutants(host: BadHost) async throws {
        let ending = try await Self.verify("pump", host.script, only: ["pump.host.\(host.device)."])
        #expect(ending.status == 2, "\(ending)")
        let expected = ending.output.split(separator: "\n").filter { $0.hasPrefix("        expected: ") }
        #expect(expected.count == host.finds.count, "\(ending)")
        // The expectation is a sentence, not the name of a rule.
        for line in expected { #expect(line.split(separator: " ").count > 4 && !line.contains("="), "\(line)") }
        // A wrong baud rate is found before anything is received.
        #expect(ending.output.contains("\n        < ") || host.finds == ["baud"], "\(ending)")
        #expect(Self.failed(ending) == host.finds.map { "pump.host.\(host.device).\($0)" }, "\(ending)")
    }

    @Test("A host that requires an answer to LED:1 fails with a mute board")
    func mute() async throws {
        let ending = try await Self.verify(
            "led", "printf 'LED:1\\n' >&3; read -t 0.2 <&3", only: ["led.host.mute"])
        #expect(Self.failed(ending) == ["led.host.mute.understands"], "\(ending)")
    }

    @Test("A host that never ends is terminated and fails")
    func hangs() async throws {
        let ending = try await Self.verify(
            "led", "read <&3; read <&3", only: ["led.host.plain"], options: ["--timeout", "1"])
        #expect(ending.status == 2, "\(ending)")
        #expect(ending.output.contains("got:      the program was ended at the time limit"), "\(ending.output)")
        #expect(Self.outcomes(ending)["led.host.plain.commands"] == "skip")
    }

    @Test(
        "A host that cannot be started fails in each report format", arguments: ["tap", "junit", "json"])
    func reports(form: String) async throws {
        let ending = try await Pumpctl.run(
            "--family", "led", "verify", "--as-device", "--only", "led.host.plain", "--report", form, "--run", "--",
            "no-such-program")
        #expect(ending.status == 2, "\(ending)")
        switch form {
        case "tap":
            #expect(ending.output.hasPrefix("TAP version 14\n1..3\nok - led.host.plain.commands # SKIP"))
            #expect(ending.output.contains("not ok - led.host.plain.understands\n"))
        case "junit": #expect(ending.output.contains("<testsuite name=\"led.host\" tests=\"3\" failures=\"1\""))
        default: #expect(try ending.objects().last?["failed"] as? Int == 1)
        }
    }

    @Test(
        "A host that does not use the device fails whatever its exit status",
        arguments: [("led", 0), ("peer", 3), ("rescue", 0)])
    func stranger(family: String, status: Int) async throws {
        let ending = try await Pumpctl.run(
            "--family", family, "verify", "--as-device", "--only", "\(family).host.plain", "--run", "--", "sh", "-c",
            "exit \(status)")
        #expect(ending.status == 2, "\(ending)")
        let got = "got:      the program sent no complete command and received nothing; exit status \(status)\n"
        #expect(ending.output.contains(got), "\(ending.output)")
    }

    @Test(
        "A check is skipped, not passed, if the host ends before the device does what the check is about",
        arguments: [
            ("pump", "interrupting", "TEMP"), ("pump", "one-thermistor", "OFF"), ("peer", "acknowledging", "a test"),
        ])
    func untested(family: String, device: String, command: String) async throws {
        let check = "\(family).host.\(device).understands"
        let ending = try await Self.verify(family, "printf '\(command)\\n' >&3; read <&3", only: [check])
        #expect(ending.output.contains("skip  \(check): the condition of this check did not occur\n"), "\(ending)")
        #expect(ending.status == 0, "\(ending)")
    }

    @Test("verify --as-device refuses conflicting arguments")
    func usage() async throws {
        for (arguments, words) in [
            (["verify", "--run", "--", "true"], "--run needs --as-device"),
            (["verify", "--as-device", "--allow-run"], "--as-device cannot be combined with"),
            (["verify", "--as-device", "--allow-send"], "--as-device cannot be combined with"),
            (["verify", "--as-device", "--ble", "--run", "--", "true"], "--run cannot be combined with --ble"),
            (["--timeout", "5", "verify", "--as-device"], "--timeout needs --run"),
            (
                ["--port", "/dev/null", "verify", "--as-device"],
                "--as-device cannot be combined with the port /dev/null"
            ),
            (
                ["verify", "--as-device", "--only", "pump.speed"],
                "no check of the family pump begins with 'pump.speed'"
            ),
        ] {
            let ending = try await Pumpctl.start(arguments).ending()
            expectFailure(ending, 64, saying: words)
        }
    }

    @Test(
        "Options for opening a device are refused, and no file is created",
        arguments: [["-v"], ["--record"], ["--reset"], ["--capture"]])
    func deviceOptions(option: [String]) async throws {
        let folder = TemporaryFolder()
        let file = option == ["--capture"] ? [folder.path("capture")] : []
        let ending = try await Pumpctl.start(
            option + file + ["verify", "--as-device", "--run", "--", "touch", folder.path("ran")]
        ).ending()
        expectFailure(ending, 64, saying: "--as-device", hint: "omit --")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("--except applies to the list of host checks")
    func except() async throws {
        let ending = try await Pumpctl.run(
            "--family", "storm", "--json", "verify", "--as-device", "--list", "--except", "storm.host.plain")
        let ids = try ending.objects().compactMap { $0["check"] as? String }
        #expect(!ids.isEmpty && !ids.contains { $0.hasPrefix("storm.host.plain") }, "\(ending)")
    }

    @Test("Without --run, checks with several devices are refused")
    func severalDevices() async throws {
        let ending = try await Pumpctl.run("verify", "--as-device", "--only", "pump.host.older", "pump.host.cut")
        expectFailure(ending, 64, saying: "older, cut", hint: "--only pump.host.older")
    }

    @Test("If the device cannot be offered, each report has the error", arguments: ["tap", "junit", "json"])
    func notOffered(form: String) async throws {
        let folder = TemporaryFolder()
        let ending = try await Pumpctl.run(
            "--family", "led", "verify", "--as-device", "--link", folder.write("", to: "taken"), "--report", form)
        expectFailure(ending, 69, saying: "taken")
        switch form {
        case "tap":
            #expect(ending.output.hasPrefix("TAP version 14\n1..3\nBail out! "), "\(ending.output)")
        case "junit": #expect(ending.output.contains("<error type=\"path_taken\""), "\(ending.output)")
        default: #expect(try ending.object()["error"] as? String == "path_taken")
        }
    }

    @Test("Only a check that takes time has a duration in the reports")
    func times() async throws {
        let arguments = ["--family", "led", "verify", "--as-device", "--only", "led.host.plain", "--report"]
        let command = ["--run", "--", Executable.pumpctl, "led", "on"]
        let objects = try await Pumpctl.start(arguments + ["json"] + command).ending().objects()
        let timed = objects.filter { $0["duration_ms"] != nil }.compactMap { $0["check"] as? String }
        #expect(timed == ["led.host.plain.understands"])
        let junit = try await Pumpctl.start(arguments + ["junit"] + command).ending()
        let cases = junit.output.split(separator: "\n").filter { $0.contains("<testcase ") }
        #expect(cases.count == 3 && cases.filter { $0.contains(" time=") }.count == 1, "\(junit)")
        for time in junit.output.matches(of: /time="([^"]*)"/) {
            #expect(time.1.wholeMatch(of: /\d+\.\d{3}/) != nil, "\(time.1)")
        }
    }

    @Test("--list prints the host checks with their rules")
    func list() async throws {
        let ending = try await Pumpctl.run("--family", "storm", "verify", "--as-device", "--list")
        #expect(ending.status == 0)
        #expect(
            ending.output.contains(
                "storm.host.echoing.understands\n    protocols.md#storm-5: a host ignores the echo of GET_LOG\n"
            ))
    }

    @Test("An app over BLE is checked until Ctrl-C")
    func phone() async throws {
        let address = "00:00:5E:00:53:02"
        let led = "957312E0-2354-11EB-9F10-FBC30A62CF38"
        try await withBLEBench { bench in
            _ = await bench.fake.addAdapter("hci1", address: address)
            let verify = try await Pumpctl.start(
                ["--family", "led", "verify", "--as-device", "--ble", "--adapter", "hci1"],
                environment: bench.environment)
            #expect(try await verify.errors.line() == "pumpctl: BLE ece196 on hci1 (\(address))")
            let central = try await TestCentral(on: bench.bus.address, for: address)
            #expect(try await central.find() == "ece196")
            try await central.connect()
            try await central.write([1], to: led)
            try await central.write([0, 1], to: led)
            verify.send(signal: SIGINT)
            let ending = try await verify.ending()
            #expect(ending.status == 2, "\(ending)")
            #expect(ending.output.contains("FAIL  led.host.plain.commands\n"), "\(ending.output)")
            #expect(ending.output.contains("skip  led.host.plain.baud: cannot be tested over BLE\n"))
            await central.close()
        }
    }
}
