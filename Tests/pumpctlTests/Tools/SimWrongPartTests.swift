import Foundation
import TestSupport
import Testing

@Suite("Mistakes in lists of faults, steps and rules", .timeLimit(.minutes(3)))
struct SimWrongPartTests {
    /// The last fault of the list of all faults. The list is shown only for a word that resembles none of them.
    private static let wholeList = "unplug"

    @Test(
        "A misspelt word is named with the likely one",
        arguments: [
            (
                ["sim", "pump", "--fault", "delay=1s,dorp@5%"],
                "--fault 'dorp@5%': unknown fault 'dorp'; write drop instead"
            ),
            (["sim", "pump", "--step", "10s pres"], "--step: the device has no verb 'pres'; write press instead"),
            (["-p", "sim:pump?fault=dorp", "status"], "hint: write drop instead of 'dorp'"),
            (["-p", "sim:pump?step=1s pres", "status"], "hint: write press instead of 'pres'"),
        ])
    func nearest(arguments: [String], text: String) async throws {
        let ending = try await Pumpctl.start(arguments).ending()
        expectFailure(ending, 64, saying: text)
        #expect(!ending.errors.contains(Self.wholeList), "\(ending.errors)")
    }

    @Test("For a word that resembles no fault, the message lists all faults")
    func list() {
        let text = refusal(of: ["sim", "pump", "--fault", "xyzxyzxyz"])
        #expect(text.contains("unknown fault 'xyzxyzxyz'; use one of: baud, "))
        #expect(text.contains(Self.wholeList))
    }

    @Test(
        "A wrong value is explained without the whole list",
        arguments: [
            (["--expect", "baud,pacign=1s"], "--expect 'pacign=1s': unknown rule 'pacign'; write pacing instead"),
            (["--fault", "drop,delay=x"], "--fault 'delay=x': delay takes a time, e.g. delay=500ms"),
            (["--fault", "drop=3"], "'drop=3': drop takes no value"),
            (["--fault", "drift=80%"], "'drift=80%': drift takes a percentage"),
            (["--fault", "drop@often"], "'drop@often': 'often' is not an occasion"),
            (["--fault", "drift@5%"], "'drift@5%': drift can't begin at '5%'"),
            (["--expect", "pacing"], "'pacing': pacing takes a time, e.g. pacing=50ms"),
            (["--expect", "reaction=5s"], "'reaction=5s': reaction takes"),
            (["--step", "10x press"], "'10x press': '10x' is not an occasion"),
            (["--step", "10s"], "'10s': the verb is missing"),
            // A bare number may mean a time, a chance, or a command's number.
            (["--fault", "drop@5"], "write 5s, 5% or command:5"),
            (["--step", "5 press"], "write 5s, 5% or command:5"),
        ])
    func takes(arguments: [String], text: String) {
        let said = refusal(of: ["sim", "pump"] + arguments)
        #expect(said.contains(text) && !said.contains(Self.wholeList), "\(said)")
    }

    @Test("A misspelt fault in sim ctl is named with the likely one")
    func whileRunning() async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let sim = try await Pumpctl.start(["sim", "pump", "--unpaced", "--control", control])
        _ = try await sim.output.line()
        let ending = try await Pumpctl.run("sim", "ctl", control, "fault", "drop,dellay=2s")
        expectFailure(ending, 64, saying: "'dellay=2s': unknown fault 'dellay'", hint: "write delay instead")
        _ = try await Pumpctl.run("sim", "ctl", control, "stop")
        _ = try await sim.ending()
    }

    @Test("Help says that a time without a unit is in seconds")
    func seconds() async throws {
        let ending = try await Pumpctl.start(["sim", "pump", "--help"]).ending()
        let help = ending.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.contains("A time after '=' without a unit is in seconds"), "\(help)")
    }
}

@Suite("Options of sim: endpoints", .timeLimit(.minutes(3)))
struct SimEndpointTests {
    @Test(
        "Options that need a pseudo-terminal are refused with a hint",
        arguments: ["fault=baud", "fault=drop,baud", "step=1h fault baud"])
    func senseless(options: String) async throws {
        let ending = try await Pumpctl.run("-p", "sim:pump?\(options)", "status")
        expectFailure(ending, 64, saying: "pseudo-terminal", hint: "pumpctl sim")
    }

    @Test("A step that fails is reported")
    func stepFailure() async throws {
        let ending = try await Pumpctl.run(
            "-p", "sim:peer?step=command:1 set image /no/such.png", "peer", "say", "hello")
        #expect(ending.status == 0, "\(ending)")
        #expect(
            ending.errors.contains("pumpctl: the step 'command:1 set image /no/such.png' failed: "),
            "\(ending)")
    }
}
