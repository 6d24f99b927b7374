import DescriptorIO
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Unplugged simulated devices", .timeLimit(.minutes(5)))
struct SimUnplugTests {
    /// Parses a line of JSON.
    private static func object(_ line: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
    }

    @Test("When an unplugged device is back, its new port is printed, and sim ctl state has it")
    func newPort() async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let sim = try await Pumpctl.start([
            "--json", "sim", "pump", "--unpaced", "--fault", "unplug=1s@10s", "--control", control,
        ])
        let first = try Self.object(await sim.output.line())
        let port = try #require(first["port"] as? String)
        #expect(try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()["port"] as? String == port)
        #expect(try await Pumpctl.run("sim", "ctl", control, "press").status == 0)
        #expect(try await Pumpctl.run("sim", "ctl", control, "advance", "20s").status == 0)
        let second = try Self.object(await sim.output.line())
        let next = try #require(second["port"] as? String)
        #expect(second["event"] as? String == "ready" && second["ok"] as? Bool == true && next != port)
        #expect(try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()["port"] as? String == next)
        #expect(try await Pumpctl.run("-p", next, "off").status == 0)
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
        let ending = try await sim.ending()
        #expect(ending.errors.contains("the device is back at \(next)"), "\(ending)")
    }

    @Test("A device that cannot come back is reported with the cause")
    func staysAway() async throws {
        let folder = TemporaryFolder()
        let (control, link) = (folder.path("control"), folder.path("pump"))
        let sim = try await Pumpctl.start([
            "--json", "sim", "pump", "--unpaced", "--fault", "unplug=10s@10s", "--control", control, "--link", link,
        ])
        _ = try await sim.output.line()
        let watch = try FolderWatch(folder.path)
        _ = try await Pumpctl.run("sim", "ctl", control, "press")
        _ = try await Pumpctl.run("sim", "ctl", control, "advance", "11s")
        try await watch.wait(for: "the end of the link") { access(link, F_OK) != 0 ? () : nil }
        #expect(mkdir(link, 0o700) == 0)
        _ = try await Pumpctl.run("sim", "ctl", control, "advance", "10s")
        let record = try Self.object(await sim.output.line())
        let expected: NSDictionary = ["ok": false, "event": "interrupted", "error": "path_taken"]
        #expect(record == expected)
        _ = try await Pumpctl.run("sim", "ctl", control, "stop")
        #expect(try await sim.ending().errors.contains("is not back: "))
    }

    @Test(
        "The fault unplug needs --link with --wait, --background and --run",
        arguments: [["--wait"], ["--background"], ["--run", "--", "true"]])
    func needsLink(options: [String]) async throws {
        let ending = try await Pumpctl.start(["sim", "pump", "--fault", "unplug"] + options).ending()
        expectFailure(ending, 64, saying: "needs --link", hint: "pumpctl sim")
    }

    @Test("The fault unplug in a step or by sim ctl needs --link too")
    func needsLinkLater() async throws {
        let step = try await Pumpctl.run("sim", "pump", "--step", "1h fault unplug", "--run", "--", "true")
        expectFailure(step, 64, saying: "needs --link")
        let start = try await Pumpctl.run("sim", "pump", "--wait")
        let control = try #require(try start.object()["control"] as? String)
        let refused = try await Pumpctl.run("sim", "ctl", control, "fault", "drop,unplug")
        expectFailure(refused, 64, saying: "the fault unplug", hint: "--link")
        #expect(try await Pumpctl.run("--json", "sim", "ctl", control, "state").object()["faults"] == nil)
        #expect(try await Pumpctl.run("sim", "ctl", control, "fault", "drop").status == 0)
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
    }

    @Test(
        "sim ctl accepts unplug for a device that has a link, or whose new port will be printed",
        arguments: [true, false])
    func unplugged(hasLink: Bool) async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let place = hasLink ? ["--link", folder.path("pump"), "--wait"] : []
        let sim = try await Pumpctl.start(["sim", "pump", "--control", control] + place)
        _ = try await sim.output.line()
        #expect(try await Pumpctl.run("sim", "ctl", control, "fault", "unplug@1h").status == 0)
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
        _ = try await sim.ending()
    }

    @Test("sim --run accepts the fault unplug with --link")
    func link() async throws {
        let folder = TemporaryFolder()
        let ending = try await Pumpctl.run(
            "sim", "pump", "--fault", "unplug@1h", "--link", folder.path("pump"), "--run", "--", "true")
        #expect(ending.status == 0, "\(ending)")
    }
}

@Suite("Surroundings of a command run by sim", .timeLimit(.minutes(5)))
struct SimSurroundingsTests {
    @Test("A command gets the simulator's original limit of descriptors")
    func descriptorLimit() async throws {
        let ending = try await Pumpctl.start(
            ["sim", "led", "--count", "2", "--run", "--", "sh", "-c", "ulimit -Sn"],
            program: Shell.bash("ulimit -Sn 100; exec \"$0\" \"$@\"", Executable.pumpctl)
        ).ending()
        #expect(ending.output == "100\n", "\(ending)")
    }

    @Test("PUMPCTL_CONTROL works from any folder")
    func controlPath() async throws {
        let folder = TemporaryFolder()
        let ending = try await Pumpctl.start(
            [
                "sim", "led", "--control", "control", "--run", "--", "sh", "-c",
                "cd / && \"$0\" sim ctl \"$PUMPCTL_CONTROL\" light on", Executable.pumpctl,
            ], program: ["/bin/sh", "-c", "cd \(folder.path) && exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        #expect(ending.status == 0 && ending.output.contains("lit: true\n"), "\(ending)")
    }

    @Test(
        "The seed is printed if anything is random",
        arguments: [
            (["--step", "5% press"], "steps by the seed 7"), (["--step", "1h press"], nil),
            (["--step", "5% press", "--fault", "drop"], "faults and steps by the seed 7"),
        ] as [([String], String?)])
    func seed(options: [String], text: String?) async throws {
        let ending = try await Pumpctl.start(
            ["sim", "pump", "--seed", "7"] + options + ["--run", "--", "true"]
        ).ending()
        #expect(ending.status == 0)
        #expect(ending.errors == (text.map { "pumpctl: \($0)\n" } ?? ""))
    }

    @Test("sim ctl ends at --timeout without an answer")
    func deadline() async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let listener = try await SocketListener.listen(at: .unix(path: control), on: .shared)
        let ending = try await Pumpctl.run("sim", "ctl", control, "state", "--timeout", "0.1")
        expectFailure(ending, 75, saying: "no answer in 0.1 s", "unknown", hint: "--timeout")
        await listener.close()
    }

    @Test("sim ctl names the simulator that hangs up without an answer")
    func hangUp() async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let listener = try await SocketListener.listen(at: .unix(path: control), on: .shared)
        async let ending = Pumpctl.run("sim", "ctl", control, "state")
        let channel = try #require(try await listener.accept())
        _ = try await channel.read()
        await channel.close()
        expectFailure(try await ending, 74, saying: "\(control): the simulator's connection ended without an answer")
        await listener.close()
    }
}
