import FirmwareSim
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Tests of `off`, and of its request to a holder: a pumpctl that has the port open, such as a monitor. The holder
/// listens at the socket for OFF of its port, and sends OFF when the `off` of another pumpctl asks for that.
@Suite("pumpctl off", .timeLimit(.minutes(5)))
struct OffTests {
    /// Creates a pump, and switches it on by `pumpctl on`.
    private func runningPump() async throws -> BenchPump {
        let pump = try await BenchPump()
        #expect(try await Pumpctl.run("-p", pump.port, "on").status == 0)
        return pump
    }

    /// Starts a pumpctl that holds a port, and waits for its first line of output.
    private func holder(_ words: String..., environment: [String: String] = [:]) async throws -> ChildProcess {
        let holder = try await Pumpctl.start(words, environment: environment)
        _ = try await holder.output.line()
        return holder
    }

    private func end(_ holder: ChildProcess) async throws {
        holder.send(signal: SIGTERM)
        _ = try await holder.ending()
    }

    /// Writes to a port like a program that ignores locks.
    private func write(_ text: String, to port: String) {
        let descriptor = open(port, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
        close(descriptor)
    }

    @Test(
        "OFF works after another program's half line",
        arguments: ["STA", "SPEED:2", "ON", "O", "OF", String(repeating: "X", count: 60), "\r", "999"])
    func halfLine(text: String) async throws {
        let pump = try await runningPump()
        write(text, to: pump.port)
        let ending = try await Pumpctl.run("-p", pump.port, "off")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test(
        "off does not take the acknowledgement of another program's OFF for that of its own",
        arguments: ["0", "X", "\n"])
    func othersOff(filler: String) async throws {
        let pump = try await runningPump()
        // More than the pump's buffer of 63 bytes holds, so that the OFF of `pumpctl off` gets lost.
        write("OFF\nON\n" + String(repeating: filler, count: 80), to: pump.port)
        let ending = try await Pumpctl.run("-p", pump.port, "off")
        let state = await pump.state()
        #expect(
            ending.status == 0 ? state == .off : ending.errors.contains("the pump may be on"), "\(state), \(ending)")
        await pump.close()
    }

    @Test("A refused OFF is repeated, and fails with the warning that the pump may be on")
    func refused() async throws {
        let device = try await ScriptedDevice { _ in "ERROR:UNKNOWN_COMMAND\r\n" }
        let ending = try await Pumpctl.run("-p", device.port, "--json", "--timeout", "3", "off")
        expectFailure(
            ending, 1, saying: "refused OFF: UNKNOWN_COMMAND", "the pump may be on",
            hint: "its button, which toggles, but only while you see or hear it run")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        #expect(device.heard.state.text.hasPrefix("\nOFF\n\nOFF\n"))
        await device.close()
    }

    @Test("off waits beyond --timeout for a board that is starting")
    func startingBoard() async throws {
        let ending = try await Pumpctl.run("-p", "sim:pump?banner=hello", "--timeout", "3", "off")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
    }

    @Test("A status of OFF replaces a lost acknowledgement")
    func lostAcknowledgement() async throws {
        let device = try await ScriptedDevice { line in
            switch line {
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
            default: ""
            }
        }
        let ending = try await Pumpctl.run("-p", device.port, "off")
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
        await device.close()
    }

    @Test("If OFF cannot be sent, off reports the cause and that the pump may be on")
    func notSent() async throws {
        let ending = try await Pumpctl.run("-p", "/dev/nosuch", "--json", "off")
        expectFailure(ending, 66, saying: "OFF was not sent: the pump may be on")
        #expect(try ending.object()["outcome"] as? String == "not_sent")
    }

    @Test(
        "The holder sends OFF for another pumpctl, and reports the request",
        arguments: [
            ["monitor"], ["on", "--for", "10m"], ["console"], ["-v", "monitor"], ["send", "STATUS", "--quiet", "60"],
            ["--timeout", "60", "send", "STATUS", "--until", "never"],
        ])
    func heldByUs(words: [String]) async throws {
        let pump = try await runningPump()
        let folder = TemporaryFolder()
        let environment = ["XDG_RUNTIME_DIR": folder.path]
        let holder = try await Pumpctl.start(["-p", pump.port] + words, environment: environment)
        if words == ["console"] {
            try await holder.write("TEMP\n")
        }
        _ = try await holder.output.line()
        let ending = try await Pumpctl.run("-p", pump.port, "off", environment: environment)
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
        #expect(await pump.state() == .off)
        try await holder.errors.text(upTo: "has asked for OFF")
        if words.first == "on" {
            expectFailure(try await holder.ending(), 1, saying: "another pumpctl has switched the pump off")
        } else {
            holder.send(signal: SIGINT)
            _ = try await holder.ending()
        }
        #expect(await pump.state() == .off)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl")) == [])
        await pump.close()
    }

    @Test("-v names the program that sent OFF")
    func verbose() async throws {
        let pump = try await runningPump()
        let holder = try await holder("-p", pump.port, "monitor")
        let ending = try await Pumpctl.run("-v", "-p", pump.port, "off")
        #expect(
            ending.errors.contains("pumpctl (pid \(holder.processID)) has the device, and has sent OFF"), "\(ending)")
        try await end(holder)
        await pump.close()
    }

    /// A device at the path `link` that vanishes at OFF. The link is removed first, because another pseudo-terminal may
    /// get the same number at once.
    private static func deviceThatGoes(_ link: String) async throws -> ScriptedDevice {
        let device = try await ScriptedDevice { line in
            if line == "OFF" { unlink(link) }
            return line == "OFF" ? nil : ""
        }
        #expect(symlink(device.port, link) == 0)
        return device
    }

    @Test("After a lost link OFF is repeated once the device is back")
    func lostLink() async throws {
        let folder = TemporaryFolder()
        let link = folder.path("pump")
        _ = try await Self.deviceThatGoes(link)
        let program = try await Pumpctl.start(["-p", link, "off"])
        try await program.errors.text(upTo: "reopening the link")
        let pump = try await BenchPump(link: link, isOn: true)
        let ending = try await program.ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output == "pump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("After a lost link that does not return the pump is reported as possibly on")
    func lostLinkForGood() async throws {
        let folder = TemporaryFolder()
        let link = folder.path("pump")
        _ = try await Self.deviceThatGoes(link)
        let ending = try await Pumpctl.run("-p", link, "--timeout", "0.5", "--json", "off")
        expectFailure(ending, 74, saying: "the pump may be on")
        #expect(try ending.object()["outcome"] as? String == "unknown")
    }

    @Test("If the pump does not answer the holder, off reports the holder and the unknown state")
    func holderWithoutAnswer() async throws {
        let device = try await ScriptedDevice { line in
            line == "STATUS" ? "STATUS:{State:ON,Speed:70%,SkinTemp:34.5C}\r\n" : ""
        }
        let holder = try await holder("-p", device.port, "--timeout", "1", "monitor")
        let ending = try await Pumpctl.run("-p", device.port, "--json", "--timeout", "5", "off")
        expectFailure(
            ending, 75, saying: "pumpctl (pid \(holder.processID)) has the device", "the pump may be on")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        try await end(holder)
        await device.close()
    }

    @Test("off waits for a short command that has the port")
    func oneShots() async throws {
        // `status` has the port until the test sends its answer. After OFF the device answers by itself.
        let isOff = Watched(false)
        let device = try await ScriptedDevice { line in
            if line == "OFF" { isOff.update { $0 = true } }
            guard isOff.state else { return "" }
            return switch line {
            case "OFF": "OK\r\nPUMP:OFF\r\n"
            case "STATUS": "STATUS:{State:OFF,SkinTemp:34.5C}\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            default: ""
            }
        }
        let status = try await Pumpctl.start(["-p", device.port, "--timeout", "100", "status"])
        _ = try await device.heard.wait(for: "STATUS") { $0.text.contains("STATUS") ? true : nil }
        let off = try await Pumpctl.start(["-p", device.port, "--timeout", "100", "off"])
        try await off.errors.text(upTo: "waiting for")
        #expect(!isOff.state)
        try await device.say("STATUS:{State:ON,Speed:70%,SkinTemp:34.5C}\r\n")
        let endings = (try await status.ending(), try await off.ending())
        #expect(endings.0.status == 0 && endings.1.status == 0, "\(endings)")
        #expect(isOff.state)
        await device.close()
    }

    @Test("A stopped holder is named with the command that resumes it")
    func stoppedHolder() async throws {
        let pump = try await runningPump()
        let holder = try await holder("-p", pump.port, "monitor")
        holder.send(signal: SIGSTOP)
        try await holder.untilStopped()
        let ending = try await Pumpctl.run("-p", pump.port, "--timeout", "1", "off")
        expectFailure(
            ending, 69, saying: "pumpctl (pid \(holder.processID))", "the pump may be on",
            hint: "kill -CONT \(holder.processID)")
        #expect(ending.output == "")
        #expect(await pump.state() == .on)
        holder.send(signal: SIGCONT)
        try await end(holder)
        await pump.close()
    }

    @Test("A killed holder does not block the port")
    func killedHolder() async throws {
        let pump = try await runningPump()
        let holder = try await holder("-p", pump.port, "monitor")
        holder.send(signal: SIGKILL)
        _ = try await holder.ending()
        #expect(try await Pumpctl.run("-p", pump.port, "off").output == "pump off\n")
        #expect(await pump.state() == .off)
        await pump.close()
    }

    @Test("With few descriptors off succeeds, or reports that the pump may be on", arguments: 4...12)
    func fewDescriptors(limit: Int) async throws {
        let (pump, folder) = (try await runningPump(), TemporaryFolder())
        let ending = try await Pumpctl.start(
            ["-p", pump.port, "off"], environment: ["XDG_RUNTIME_DIR": folder.path],
            program: ["/bin/sh", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        #expect(ending.signal == nil, "\(ending)")
        if await pump.state() == .on {
            expectFailure(ending, 74, saying: "the pump may be on")
        } else {
            #expect(ending.output == "pump off\n", "\(ending)")
        }
        await pump.close()
    }

    @Test("With few descriptors a simulator works or reports its failure", arguments: 4...8)
    func fewDescriptorsOfSimulator(limit: Int) async throws {
        let ending = try await Pumpctl.start(
            ["sim", "pump", "--run", "--", "true"],
            program: ["/bin/sh", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", Executable.pumpctl]
        ).ending()
        #expect(ending.signal == nil, "\(ending)")
        #expect(ending.status == 0 || ending.errors.contains("pumpctl: "), "\(ending)")
    }

    @Test("If a program other than pumpctl holds the port, off exits with 69 and warns that the pump may be on")
    func foreignHolder() async throws {
        let pump = try await runningPump()
        let holder = try await ChildProcess(["/usr/bin/flock", "-x", pump.port, "-c", "echo locked; read end"])
        #expect(try await holder.output.line() == "locked")
        let ending = try await Pumpctl.run("-p", pump.port, "--json", "off")
        expectFailure(ending, 69, saying: "(pid ", "OFF was not sent: the pump may be on", hint: "")
        #expect(try ending.object()["outcome"] as? String == "not_sent")
        #expect(await pump.state() == .on)
        holder.send(signal: SIGKILL)
        await pump.close()
    }

    @Test("A holder of another family refuses to send OFF")
    func otherFamily() async throws {
        let device = try await ScriptedDevice()
        let holder = try await Pumpctl.start(["-p", device.port, "-v", "storm", "log", "live"])
        _ = try await holder.errors.line()
        let ending = try await Pumpctl.run("-p", device.port, "off")
        expectFailure(
            ending, 69, saying: "only measures", "OFF was not sent: the pump may be on",
            hint: "end that program where it was started; then repeat it: pumpctl off")
        #expect(!device.heard.state.text.contains("OFF"))
        try await end(holder)
        await device.close()
    }

    @Test(
        "The socket for OFF accepts nothing but OFF with one line feed",
        arguments: ["ON\n", "OFF", "OFFX", "OFF\nON\n", String(repeating: "O", count: 9999)])
    func socket(text: String) async throws {
        let pump = try await runningPump()
        let folder = TemporaryFolder()
        let holder = try await holder("-p", pump.port, "monitor", environment: ["XDG_RUNTIME_DIR": folder.path])
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl")).first)
        // After the end of its input, socat waits 3 s for a reply.
        let client = try await ChildProcess(
            ["/usr/bin/socat", "-t3", "-", "UNIX-CONNECT:\(folder.path("pumpctl"))/\(name)"])
        try await client.write(text)
        await client.closeInput()
        let ending = try await client.ending()
        #expect(ending.output == "")
        #expect(await pump.state() == .on)
        try await end(holder)
        await pump.close()
    }

    @Test(
        "The socket for OFF is only in a folder that no other user can write to",
        arguments: [0o700, 0o777, 0o770, 0o702] as [mode_t])
    func openFolder(mode: mode_t) async throws {
        let pump = try await runningPump()
        let folder = TemporaryFolder()
        try folder.makeFolder("pumpctl")
        #expect(chmod(folder.path("pumpctl"), mode) == 0)
        let holder = try await holder("-p", pump.port, "monitor", environment: ["XDG_RUNTIME_DIR": folder.path])
        let sockets = try FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl"))
        #expect(sockets.count == (mode == 0o700 ? 1 : 0), "\(sockets)")
        try await end(holder)
        await pump.close()
    }

    @Test("A silent client does not block the socket for OFF")
    func silentAsker() async throws {
        let pump = try await runningPump()
        let folder = TemporaryFolder()
        let environment = ["XDG_RUNTIME_DIR": folder.path]
        let holder = try await holder("-p", pump.port, "monitor", environment: environment)
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl")).first)
        let client = try await ChildProcess(
            ["/usr/bin/socat", "-d", "-d", "-", "UNIX-CONNECT:\(folder.path("pumpctl"))/\(name)"])
        try await client.errors.text(upTo: "starting data transfer")
        let ending = try await Pumpctl.run("-p", pump.port, "off", environment: environment)
        #expect(ending.status == 0, "\(ending)")
        #expect(await pump.state() == .off)
        #expect(try await client.ending().output == "")
        try await end(holder)
        await pump.close()
    }

    @Test("A second signal ends off at once, with the warning that the pump may be on")
    func givenUp() async throws {
        let device = try await ScriptedDevice()
        let off = try await Pumpctl.start(["-p", device.port, "--timeout", "100", "off"])
        _ = try await device.heard.wait(for: "OFF") { $0.text.contains("OFF") ? true : nil }
        off.send(signal: SIGINT)
        try await off.errors.text(upTo: "interrupt again")
        await off.sendUntilTheEnd(signal: SIGINT)
        let ending = try await off.ending()
        #expect(ending.status == 130)
        #expect(ending.errors.contains("the pump may be on"), "\(ending)")
        await device.close()
    }

    @Test("After a signal the exit code in JSON is that of the process")
    func exitCode() async throws {
        let device = try await ScriptedDevice()
        let off = try await Pumpctl.start(["-p", device.port, "--json", "--timeout", "1", "off"])
        _ = try await device.heard.wait(for: "OFF") { $0.text.contains("OFF") ? true : nil }
        off.send(signal: SIGTERM)
        let ending = try await off.ending()
        #expect(ending.status == 143)
        #expect(try ending.object()["exit_code"] as? Int == 143)
        await device.close()
    }

    @Test("Interrupted while another pumpctl is asked, off warns that the pump may be on")
    func interrupted() async throws {
        let device = try await ScriptedDevice()
        let folder = TemporaryFolder()
        let environment = ["XDG_RUNTIME_DIR": folder.path]
        // Find the name of the socket for OFF of this port, to listen there in place of a pumpctl.
        let monitor = try await holder("-p", device.port, "--timeout", "0.2", "monitor", environment: environment)
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl")).first)
        try await end(monitor)
        let asked = try await ChildProcess(
            ["/usr/bin/socat", "-d", "-d", "-", "UNIX-LISTEN:\(folder.path("pumpctl"))/\(name)"])
        try await asked.errors.text(upTo: "listening on")
        device.heard.update { $0.bytes = [] }
        let status = try await Pumpctl.start(["-p", device.port, "status"], environment: environment)
        _ = try await device.heard.wait(for: "STATUS") { $0.text.contains("STATUS") ? true : nil }
        let off = try await Pumpctl.start(["-p", device.port, "--json", "off"], environment: environment)
        #expect(try await asked.output.line() == "OFF")
        off.send(signal: SIGINT)
        let ending = try await off.ending()
        expectFailure(ending, 130, saying: "interrupted; the pump may be on", hint: "pumpctl off")
        #expect(try ending.object()["outcome"] as? String == "unknown")
        #expect(!device.heard.state.text.contains("OFF"))
        try await end(status)
        await device.close()
    }

    @Test(
        "The socket for OFF refuses other users",
        .enabled(if: geteuid() == 0, "only root can start a program as another user"))
    func otherUser() async throws {
        let pump = try await runningPump()
        let folder = TemporaryFolder()
        let holder = try await holder("-p", pump.port, "monitor", environment: ["XDG_RUNTIME_DIR": folder.path])
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path("pumpctl")).first)
        // Open the modes of the folder and the socket, which would otherwise refuse the client before the server checks
        // the client's user.
        for path in [folder.path, folder.path("pumpctl"), folder.path("pumpctl/\(name)")] { chmod(path, 0o777) }
        let socket = "UNIX-CONNECT:\(folder.path("pumpctl"))/\(name)"
        for (user, answer) in [("65534", ""), ("0", "off\n")] {
            let client = try await ChildProcess(["setpriv", "--reuid", user, "/usr/bin/socat", "-t10", "-", socket])
            try await client.write("OFF\n")
            await client.closeInput()
            let ending = try await client.ending()
            #expect(ending.output == answer, "\(ending)")
            #expect(await pump.state() == (answer == "" ? .on : .off))
        }
        try await end(holder)
        await pump.close()
    }
}
