import FirmwareSim
import Foundation
import Glibc
import PeripheralSim
import TestSupport
import Testing

@testable import pumpctl

@Suite("Scenarios of simulated devices", .timeLimit(.minutes(3)))
struct ScenarioCommandTests {
    private let folder = TemporaryFolder()

    /// Writes a scenario file; returns its path.
    private func file(_ text: String) throws -> String {
        let path = folder.path("scenario.toml")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A pump whose skin becomes too warm after the first command. The host must send OFF within 30 s of the error.
    private static let tooWarm = """
        family = "pump"
        seed = 7
        [device]
        unpaced = true
        knob = 716
        [[step]]
        when = "command:1"
        do = "temperature skin 41"
        [expect]
        one-in-flight = true
        [[expect.reaction]]
        to = "ERROR:OVERHEAT"
        within = "30s"
        send = "OFF"
        """

    @Test("A host that meets the expectations passes, and its own exit status counts")
    func passes() async throws {
        let path = try file(Self.tooWarm)
        // After the reply to ON the skin becomes too warm, so that the pump stops itself before OFF comes.
        let script = #""$0" on; "$0" off; exit $1"#
        for status in ["0", "7"] as [String] {
            let ending = try await Pumpctl.run(
                "sim", "pump", "--scenario", path, "--run", "--", "bash", "-c", script, Executable.pumpctl, status)
            #expect(ending.status == Int32(status), "\(ending.errors)")
            #expect(ending.errors.contains("pumpctl: verdict: the host met all expectations\n"))
        }
    }

    @Test("A host that sends two commands at once and does not react fails")
    func fails() async throws {
        let path = try file(Self.tooWarm.replacing("30s", with: "100ms"))
        let script = #"exec 3<>"$PUMPCTL_PORT"; printf 'ON\nSTATUS\n' >&3; grep -qm1 OVERHEAT <&3; sleep 0.3"#
        let ending = try await Pumpctl.run(
            "sim", "pump", "--scenario", path, "--run", "--", "bash", "-c", script)
        #expect(ending.status == 2)
        #expect(ending.output.isEmpty)
        #expect(ending.errors.contains("one-in-flight: STATUS was sent before the last reply had ended\n"))
        #expect(
            ending.errors.contains("reaction=100ms/OFF@line:ERROR:OVERHEAT: no such command was sent in time\n"))
    }

    @Test("Rules on baud rates and flushes apply to a pseudo-terminal, and are refused over TCP")
    func terminals() async throws {
        let script =
            #"stty -F "$PUMPCTL_PORT" 115200; exec 3<>"$PUMPCTL_PORT"; printf 'TEMP\n' >&3; head -c 10 <&3 >/dev/null"#
        let ending = try await Pumpctl.run(
            "sim", "pump", "--unpaced", "--expect", "no-flush", "--run", "--", "bash", "-c", script)
        #expect(ending.status == 0, "\(ending.errors)")
        let wrong = try await Pumpctl.run("sim", "pump", "--expect", "baud", "--run", "--", "bash", "-c", script)
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("baud: sent at 115200 baud; the device has 9600\n"))
        let refused = try await Pumpctl.run("sim", "pump", "--tcp", "0", "--expect", "baud", "--run", "--", "true")
        #expect(refused.status == 64 && refused.errors.contains("pseudo-terminal"))
    }

    @Test("Several --step and --expect options add up")
    func addUp() async throws {
        let script = #"for n in 1 2 3; do "$0" led get; done"#
        let ending = try await Pumpctl.run(
            "sim", "led", "--unpaced", "--step", "command:1 light on", "--step", "command:2 light off",
            "--expect", "pacing=1h", "--expect", "baud", "--run", "--", "bash", "-c", script, Executable.pumpctl)
        #expect(ending.output == "led off\nled on\nled off\n")
        #expect(ending.status == 2 && ending.errors.contains("pacing"), "\(ending.errors)")
    }

    @Test("sim ctl stop reports the verdict")
    func control() async throws {
        let start = try await Pumpctl.run("sim", "led", "--unpaced", "--expect", "pacing=10s", "--wait")
        let ready = try start.object()
        let (port, control) = (try #require(ready["port"] as? String), try #require(ready["control"] as? String))
        for _ in 0..<2 { #expect(try await Pumpctl.run("-p", port, "led", "get").status == 0) }
        let stop = try await Pumpctl.run("--json", "sim", "ctl", control, "stop")
        #expect(stop.status == 2)
        let verdict = try #require(try stop.object()["verdict"] as? NSDictionary)
        #expect(verdict["passed"] as? Bool == false && (verdict["count"] as? Int ?? 0) >= 1)
    }

    @Test("A step that fails is reported and makes the status 2, also of a device without expectations")
    func failedStep() async throws {
        let ending = try await Pumpctl.run(
            "sim", "peer", "--step", "1s set image /no/such.png", "--control", folder.path("control"), "--run", "--",
            Executable.pumpctl, "sim", "ctl", folder.path("control"), "advance", "2s")
        #expect(ending.status == 2)
        #expect(ending.errors.contains("verdict: at 1.000 s: step: the step '1s set image"), "\(ending.errors)")
        let passing = try await Pumpctl.run("sim", "led", "--step", "1h light on", "--run", "--", "true")
        #expect(passing.status == 0 && passing.errors.isEmpty, "\(passing.errors)")
    }

    @Test("SIGTERM ends a simulator with status 143, even if an expectation was not put to the test")
    func signal() async throws {
        let sim = try await Pumpctl.start([
            "sim", "led", "--unpaced", "--link", folder.path("led"), "--expect", "pacing=1s",
        ])
        _ = try await sim.output.line()
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }

    @Test("--fault none disables the scenario's faults")
    func noFaults() async throws {
        let path = try file("[[fault]]\nname = \"silence\"\nwhen = \"always\"\n")
        let ending = try await Pumpctl.run(
            "sim", "led", "--scenario", path, "--fault", "none", "--run", "--", Executable.pumpctl, "led", "get")
        #expect(ending.status == 0 && ending.output == "led off\n", "\(ending.errors)")
    }

    @Test("An endpoint accepts a scenario without expectations")
    func endpoint() async throws {
        let path = try file("[device]\nlit = true\n")
        #expect(try await Pumpctl.run("-p", "sim:led?scenario=\(path)", "led", "get").output == "led on\n")
        let judged = try file("[expect]\nbaud = true\n")
        let refused = try await Pumpctl.run("-p", "sim:led?scenario=\(judged)", "led", "get")
        #expect(refused.status == 64 && refused.errors.contains("pumpctl sim"))
    }

    @Test(
        "A mistake in a scenario is reported with its line and reason",
        arguments: [
            ("family = \"storm\"", "scenario.toml: line 1: the scenario is for 'storm', not for 'pump'"),
            ("[device]\nknob = 5000", "scenario.toml: line 2: knob takes a number from 0 to 1023"),
            ("seed = 1\n\n[devcie]", "line 3: devcie: unknown key"),
            ("[[fault]]\nwhen = \"5%\"", "line 1: [fault] name: missing"),
            ("[[fault]]\nname = \"drop\"\nwhen = \"often\"", "line 2: fault 'drop@often': 'often' is not an occasion"),
            ("knob = 3", "line 1: knob: unknown key"),
            ("sead = 3", "write seed instead"), ("device = 1", "below a line [device]\n"),
            (
                "[[step]]\nwhen = \"1s\"\ndo = \"press\"\n[[step]]\nwhen = \"5s\"\ndo = \"jump\"",
                "line 5: step: the device has no verb 'jump'"
            ),
            ("[[step]]\nwhen = \"5s\"\ndo = \"press\"\n[[step]]\nwhen = 5", "line 4: [step] do"),
            ("[expect]\npacing = true", "line 2: expect 'pacing': pacing takes a time"),
            ("[expect]\nbuad = true", "line 2: [expect] buad: unknown key"),
            (
                "[[fault]]\nname = \"drop\"\n[[fault]]\nname = \"a,b\"", "line 3: fault: 'a,b' contains a comma"
            ),
            ("[[expect.reaction]]\nto = \"A,B\"\nwithin = \"1s\"", "line 1: expect.reaction: "),
            ("expect = {\"one-in-flight\" = true, buad = 1}", "line 1: [expect] buad: unknown key"),
            ("\n[device]\nknob = [1]", "line 3: [device] knob: must be a string, a number"),
            ("[device]\nknob = 7e2", "line 2: knob takes a number"), ("[device]\nknob = 07:00:00", "not a time"),
            ("[device]\r\nknob = 1\r\nknob = 2\r\n", "line 3: Error while parsing key-value pair: cannot redefine"),
            ("\n" + String(repeating: "a.", count: 100_000) + "a = 1", "line 2: more than 256 dots"),
            ("family = ", "line 1"),
            ("fault = \"drop\"", "must be an array of tables"),
        ])
    func refused(text: String, message: String) throws {
        let failure = try #require(try refusal(of: text))
        #expect(failure.status == .usage)
        let said = "\(failure.message)\n\(failure.hint ?? "")\n"
        #expect(said.contains(message), "\(said)")
    }

    /// Returns the error with which a pump's scenario is refused; nil if it is accepted.
    private func refusal(of text: String) throws -> Failure? {
        let path = try file(text)
        let line = PeripheralSimulator.pump.line
        do throws(Failure) {
            _ = try ScenarioFile.options(at: path, for: line.name, beside: [:], of: line.options) {
                option throws(SimulatorOptionError) in try line.check(option)
            }
            return nil
        } catch {
            return error
        }
    }

    @Test("Lines within a multi-line string are neither tables nor keys")
    func textOfLines() throws {
        let text = "[[step]]\nwhen = \"5s\"\ndo = \'\'\'\n[device]\nknob = 1\'\'\'\n[device]\nknob = 5000"
        #expect(try refusal(of: text)?.message.hasSuffix("line 3: [step] do: contains a line break") == true)
    }

    @Test("A failed expectation overrides the host's exit status, unless the host could not be started")
    func exitCodes() async throws {
        for (program, status) in [(["sh", "-c", "exit 3"], 2), (["true"], 2), (["/nonexistent/program"], 127)] {
            let ending = try await Pumpctl.start(
                ["sim", "led", "--unpaced", "--expect", "pacing=1s", "--run", "--"] + program
            ).ending()
            #expect(ending.status == Int32(status), "\(ending)")
            #expect(ending.errors.contains("verdict: pacing=1s: was not tested"))
        }
        let taken = try file("")
        let ending = try await Pumpctl.run(
            "sim", "led", "--link", taken, "--expect", "pacing=1s", "--run", "--", "true")
        expectFailure(ending, 69, saying: "in use", hint: "choose another path")
    }

    @Test("pumpctl meets the expectations of the documented example")
    func example() async throws {
        let page = try MarkdownPage.text("docs/scenarios.md")
        let text = try #require(page.split(separator: "```toml\n").dropFirst().first?.split(separator: "```").first)
        let ending = try await Pumpctl.run(
            "sim", "pump", "--scenario", try file(String(text)), "--run", "--", Executable.pumpctl, "on", "--for", "10s"
        )
        #expect(ending.status == 3, "\(ending)")
        #expect(ending.errors.contains("verdict: the host met all expectations"), "\(ending)")
    }

    @Test("A missing file, a folder and an invalid scenario are reported")
    func missing() async throws {
        let ending = try await Pumpctl.run("sim", "pump", "--scenario", "/nonexistent.toml")
        expectFailure(ending, 66, saying: "/nonexistent.toml: No such file or directory", hint: "path")
        let folder = try await Pumpctl.run("sim", "pump", "--scenario", "/proc")
        expectFailure(folder, 66, saying: "/proc: not a scenario file", hint: "TOML")
        let wrong = try await Pumpctl.run("sim", "pump", "--scenario", try file("knob = 3"))
        expectFailure(wrong, 64, saying: "scenario.toml: line 1: knob: unknown key", hint: "the keys are family")
    }
}
