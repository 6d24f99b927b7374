import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl sim --wait", .timeLimit(.minutes(5)))
struct SimWaitTests {
    /// Kills the simulator, whose JSON object is `ready`, in case the test has not stopped it.
    private func stop(_ ready: NSDictionary) {
        if let process = ready["pid"] as? Int { kill(pid_t(process), SIGKILL) }
    }

    @Test("--wait prints the port and the control socket, and sim ctl stop ends the simulator")
    func wait() async throws {
        let folder = TemporaryFolder()
        let runtime = ["XDG_RUNTIME_DIR": folder.path]
        let ending = try await Pumpctl.run("sim", "pump", "--unpaced", "--wait", environment: runtime)
        #expect(ending.status == 0)
        #expect(ending.errors == "")
        let ready = try ending.object()
        defer { stop(ready) }
        let control = try #require(ready["control"] as? String)
        #expect(control.hasPrefix(folder.path("pumpctl/")))
        let process = try #require(ready["pid"] as? Int)
        let port = try #require(ready["port"] as? String)
        #expect(port.hasPrefix("/dev/pts/"))
        let expected: NSDictionary = [
            "ok": true, "event": "ready", "pid": process, "port": port, "control": control, "family": "pump", "seed": 1,
        ]
        #expect(ready == expected)
        var status = stat()
        #expect(stat(control, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let verbs = try await Pumpctl.run("sim", "ctl", control, "verbs").output.split(separator: "\n")
        #expect(verbs.contains("temperature PROBE CELSIUS: Set a probe to a temperature, from which it drifts on."))
        #expect(verbs.contains { $0.hasPrefix("set knob VALUE: ") })
        #expect(try await Pumpctl.run("sim", "ctl", control, "press").status == 0)
        #expect(try await Pumpctl.run("sim", "ctl", control, "advance", "1s").output.contains("state: on\n"))
        #expect(try await Pumpctl.run("-p", port, "--json", "status").object()["state"] as? String == "on")
        let watch = try FolderWatch(folder.path("pumpctl"))
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").output == "ok\n")
        try await watch.wait(for: "the end of the control socket") { access(control, F_OK) != 0 ? () : nil }
    }

    @Test("A relative control path is printed in full, and TCP works too")
    func places() async throws {
        let folder = TemporaryFolder()
        let program = ["/bin/sh", "-c", "cd \(folder.path) && exec \"$0\" \"$@\"", Executable.pumpctl]
        let arguments = ["sim", "storm", "--seed", "7", "--tcp", "0", "--control", "storm.control", "--wait"]
        let ready = try await Pumpctl.start(arguments, program: program).ending().object()
        defer { stop(ready) }
        #expect(ready["seed"] as? Int == 7)
        #expect((ready["control"] as? String)?.hasSuffix("/storm.control") == true)
        let control = folder.path("storm.control")
        #expect((ready["port"] as? String)?.hasPrefix("tcp:127.0.0.1:") == true)
        #expect(try await Pumpctl.run("sim", "ctl", control, "measure").output.contains("\nrows: 1"))
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
    }

    @Test("A simulator whose output cannot be written is ended")
    func untold() async throws {
        let folder = TemporaryFolder()
        let watch = try FolderWatch(folder.path)
        for (redirection, status) in [(">/dev/full", 74), ("| true; exit ${PIPESTATUS[0]}", 141)] as [(String, Int32)] {
            let script = "\"$0\" sim led --wait --control \(folder.path("control")) \(redirection)"
            let ending = try await Pumpctl.start([], program: ["bash", "-c", script, Executable.pumpctl]).ending()
            // If `true` exits late, the line is written before the pipe breaks, and the simulator keeps running.
            if status == 141, ending.status == 0 {
                _ = try await Pumpctl.run("sim", "ctl", folder.path("control"), "stop")
            } else {
                #expect(ending.status == status, "\(ending.errors)")
            }
            try await watch.wait(for: "the end of the control socket") {
                access(folder.path("control"), F_OK) != 0 ? () : nil
            }
        }
    }

    @Test("If one of several devices cannot be offered, all end at once")
    func taken() async throws {
        let folder = TemporaryFolder()
        _ = folder.write("", to: "led-2")
        let link = folder.path("led-%d")
        for rest in [["--wait"], ["--run", "--", "echo", "started"]] {
            let ending = try await Pumpctl.start(["sim", "led", "--count", "3", "--link", link] + rest).ending()
            #expect(ending.status == 69, "\(ending.errors)")
            #expect(!ending.output.contains("started") && ending.errors.contains("led-2"))
            #expect(access(folder.path("led-1"), F_OK) != 0)
        }
    }

    @Test("A command whose simulator is stopped is terminated, and its exit status counts")
    func stopped() async throws {
        let folder = TemporaryFolder()
        let script = #"mkfifo "$1"; trap 'exit 8' TERM; "$0" sim ctl "$PUMPCTL_CONTROL" stop; read -r x <>"$1""#
        let ending = try await Pumpctl.run(
            "sim", "led", "--control", folder.path("control"), "--run", "--", "bash", "-c", script, Executable.pumpctl,
            folder.path("never"))
        #expect(ending.status == 8, "\(ending.errors)")
    }

    @Test("Several devices are printed with their ports, and with their families if these differ")
    func several() async throws {
        let folder = TemporaryFolder()
        let control = folder.path("control")
        let ready = try await Pumpctl.run(
            "sim", "led", "--count", "2", "--link", folder.path("led-%d"), "--with", "storm?rows=3&interval=off",
            "--control", control, "--wait"
        ).object()
        defer { stop(ready) }
        let ports = try #require(ready["ports"] as? [String])
        #expect(ports.count == 3)
        #expect(ports.prefix(2) == [folder.path("led-1"), folder.path("led-2")])
        #expect(ready["families"] as? [String] == ["led", "led", "storm"])
        #expect(ready["family"] as? String == "led")
        #expect(ready["port"] == nil)
        #expect(try await Pumpctl.run("-p", ports[1], "led", "on").status == 0)
        for (number, state) in [("1", "lit: false\n"), ("2", "lit: true\n"), ("3", "rows: 3\n")] {
            #expect(try await Pumpctl.run("sim", "ctl", control, "--device", number, "state").output.contains(state))
        }
        #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)

        let alike = try await Pumpctl.run("sim", "led", "--count", "2", "--control", control + "2", "--wait").object()
        defer { stop(alike) }
        #expect((alike["ports"] as? [String])?.count == 2)
        #expect(alike["families"] == nil)
        #expect(try await Pumpctl.run("sim", "ctl", control + "2", "stop").status == 0)
    }

    @Test("A failure to start has its exit status and a JSON object")
    func failures() async throws {
        let failed = try await Pumpctl.run("sim", "pump", "--link", "/nonexistent/pump", "--wait")
        expectFailure(failed, 66, saying: "/nonexistent/pump", hint: "folder")
        #expect(try failed.object()["error"] as? String == "not_found")
        let folder = TemporaryFolder()
        let taken = folder.write("mine", to: "file")
        expectFailure(try await Pumpctl.run("sim", "pump", "--control", taken, "--wait"), 69, saying: taken)
        for options in [["--background"], ["--run", "--", "true"]] {
            let ending = try await Pumpctl.start(["sim", "pump", "--wait"] + options).ending()
            expectFailure(ending, 64, saying: "--wait")
        }
    }
}
