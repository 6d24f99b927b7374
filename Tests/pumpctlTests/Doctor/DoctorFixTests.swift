import Diagnosis
import Glibc
import TestSupport
import Testing

@testable import pumpctl

/// A folder with stand-ins for the programs with which `doctor --fix` changes the computer. They log their arguments.
private final class FakePrograms: Sendable {
    private static let names = ["sudo", "systemctl", "apt", "usermod"]

    let folder = TemporaryFolder()

    /// Writes the programs.
    ///
    /// - Parameter action: The last line of each program but `sudo`, which runs its arguments.
    init(_ action: String) async throws {
        // A shell writes the programs. If this process did, a child of another test could inherit a file open for
        // writing, and the program could not be executed (ETXTBSY).
        let writing = Self.names.map { name in
            let last = name == "sudo" ? "exec \"$@\"" : action
            return "printf '%s\\n' '#!/bin/sh' 'echo \"\(name) $*\" >>\(folder.path("log"))' '\(last)' >\(name)"
        }
        let script = "cd \(folder.path) && \(writing.joined(separator: "; ")); : >log; chmod 755 . *; chmod 666 log"
        #expect(try await ChildProcess(["sh", "-c", script]).ending().status == 0)
    }

    /// The commands that have run.
    var log: [String] { String(decoding: folder.read("log"), as: UTF8.self).split(separator: "\n").map { String($0) } }

    /// The environment of a program that finds these programs first.
    var environment: [String: String] { ["PATH": "\(folder.path):/usr/bin:/bin"] }
}

@Suite("pumpctl doctor --fix") struct DoctorFixTests {
    private let bus: PrivateBus

    init() async throws { bus = try await PrivateBus() }

    /// Starts `doctor --fix`, which finds that bluetoothd is not running.
    private func start(_ programs: FakePrograms, on terminal: String?) async throws -> ChildProcess {
        let environment = programs.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]) { $1 }
        return try await Pumpctl.start(
            ["doctor", "ble:HMSoft", "--fix"], environment: environment, terminal: terminal)
    }

    @Test(
        arguments: [
            // The text typed before the question, and after it, whether the command runs, and the exit status.
            ("", "y\n", true, 69), ("", "n\n", false, 69), ("", "\n", false, 69), ("", "yes\n", false, 69),
            ("", "\u{4}", false, 69), ("", "\u{3}", false, 130), ("y\n", "n\n", false, 69),
        ] as [(String, String, Bool, Int32)])
    func `A command runs only after a y that was typed after the question`(
        before: String, answer: String, runs: Bool, status: Int32
    ) async throws {
        let programs = try await FakePrograms("exit 3")
        let user = try await TerminalTests.UserTerminal()
        try await user.type(before)
        let doctor = try await start(programs, on: user.path)
        try await user.screen.text(upTo: "run '")
        let command = try await user.screen.text(upTo: "'? [y/N] ").dropLast("'? [y/N] ".count)
        #expect(command.hasPrefix("sudo ") == (geteuid() != 0))
        #expect(programs.log.isEmpty)
        try await user.type(answer)
        #expect(try await doctor.ending().status == status)
        let words = command.split(separator: " ")
        let steps = words.first == "sudo" ? [words, Array(words.dropFirst())] : [words]
        #expect(programs.log == (runs ? steps.map { $0.joined(separator: " ") } : []))
        await user.close()
        let rest = try await user.screen.all("the rest")
        #expect(rest.contains("'\(command)' ended with exit status 3") == runs, "\(rest)")
        #expect(rest.contains("run doctor again") == runs)
        #expect(!rest.contains("[y/N]"))
    }

    @Test func `Ctrl-C ends the running command and doctor`() async throws {
        let programs = try await FakePrograms("echo waiting; exec tail -f /dev/null")
        let user = try await TerminalTests.UserTerminal()
        let doctor = try await start(programs, on: user.path)
        try await user.screen.text(upTo: "[y/N] ")
        try await user.type("y\n")
        try await user.screen.text(upTo: "waiting")
        try await user.type("\u{3}")
        #expect(try await doctor.ending().status == 130)
        await user.close()
        #expect(try await !user.screen.all("the rest").contains("ended with"))
    }

    @Test func `Without a terminal nothing is asked`() async throws {
        let programs = try await FakePrograms("exit 0")
        let doctor = try await start(programs, on: nil)
        try await doctor.write("y\n")
        let ending = try await doctor.ending()
        #expect(ending.status == 69)
        #expect(ending.output.contains("→ sudo "))
        #expect(!(ending.output + ending.errors).contains("[y/N]"))
        #expect(programs.log.isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can start a program as another user"))
    func `A user without permission for a port joins its group by sudo`() async throws {
        let programs = try await FakePrograms("exit 0")
        let user = try await TerminalTests.UserTerminal()
        let port = try await TerminalTests.UserTerminal()
        // The group 5 is `tty` on Debian.
        #expect(chown(port.path, 0, 5) == 0 && chmod(port.path, 0o660) == 0)
        // The user must be able to reach the program.
        try await ChildProcess(["cp", Executable.pumpctl, programs.folder.path("pumpctl")]).ending()
        let doctor = try await Pumpctl.start(
            ["doctor", port.path, "--fix"], environment: programs.environment, terminal: user.path,
            program: [
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", programs.folder.path("pumpctl"),
            ])
        try await user.screen.text(upTo: "log in again: sudo usermod -aG tty $USER")
        try await user.screen.text(upTo: "run 'sudo usermod -aG tty nobody'? [y/N] ")
        try await user.type("y\n")
        try await user.screen.text(upTo: "exit status 0")
        #expect(try await doctor.ending().status == 77)
        #expect(programs.log == ["sudo usermod -aG tty nobody", "usermod -aG tty nobody"])
        for terminal in [user, port] { await terminal.close() }
    }

    @Test func `Each command is offered once, and advice is not offered`() {
        let modprobe = Remedy.command(RootCommand("modprobe", "ch341"), sentence: "load it")
        let apt = Remedy.command(RootCommand("apt", "install", "bluez"), sentence: "install it")
        let remedies = [modprobe, "sudo systemctl restart pumpctld", modprobe, apt]
        let commands = [["modprobe", "ch341"], ["apt", "install", "bluez"]]
        #expect(RemedyOffers(of: remedies, asRoot: true).commands == commands)
        #expect(RemedyOffers(of: remedies, asRoot: false).commands == commands.map { ["sudo"] + $0 })
    }
}
