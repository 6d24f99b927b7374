import DeviceKit
import Foundation
import Glibc
import TestSupport
import Testing

// Boards in real time: `verify` repeats a measurement that a busy machine may have delayed. Only tests that need the
// program pumpctl are here. `LockstepTests` verifies boards in simulated time.
@Suite("Bench: verification of firmware in real time", .timeLimit(.minutes(20)))
struct VerifyBenchTests {
    /// Calls `body` with the port and the control socket of our firmware on an emulated Nano in real time.
    private func onNano(_ body: (_ port: String, _ control: String) async throws -> Void) async throws {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        try await FirmwareBuild.ready()
        await FirmwareSlots.shared.take()
        let folder = TemporaryFolder()
        let control = folder.path("control")
        try await withCleanup({ await FirmwareSlots.shared.giveBack() }) {
            let process = try await ChildProcess([
                FirmwareBuild.nanoSim, "--exit-on-eof", "--control", control,
                FirmwareBuild.firmware(thermistors: 1, isField: false),
            ])
            let port = String(try await process.output.line("nano-sim's pty").dropFirst("PTY ".count))
            try await body(port, control)
            await process.closeInput()
            _ = try await process.ending()
        }
    }

    @Test("verify leaves a running pump on, and switches the pump off if a signal interrupts it")
    func safety() async throws {
        try await onNano { port, control in
            let on = try await Self.pumpctl("--port", port, "--timeout", "20", "on").ending()
            #expect(on.status == 0, "\(on)")
            let refused = try await Self.verify(port, ["--allow-run"])
            #expect(refused.status == 69, "\(refused)")
            #expect(try await Self.state(control)["duty"] == "180")
            #expect(try await Self.pumpctl("--port", port, "--timeout", "20", "off").ending().status == 0)

            // More rounds than any machine completes before the signal.
            let process = try await Self.pumpctl(
                "--verbose", "--port", port, "verify", "--allow-run", "--timeout", "20", "--repeat", "1000", "--only",
                "pump.on.reply", "pump.unasked")
            _ = try await process.errors.text(upTo: "PUMP:ON")
            process.send(signal: SIGTERM)
            #expect(try await process.ending().status == 128 + SIGTERM)
            #expect(try await Self.state(control)["duty"] == "0")
        }
    }

    @Test("The cores of our ESP32 sketches pass verify", arguments: ["led", "storm"])
    func sketches(family: String) async throws {
        let folder = TemporaryFolder()
        let log = folder.path("log.txt")
        try "1 2 3 4.5\n2 3 4 -0.25\n".write(toFile: log, atomically: true, encoding: .utf8)
        let program = try await SketchBuild.program("\(family)-sim")
        let process = try await ChildProcess([program] + (family == "storm" ? [log] : []))
        let port = String(try await process.output.line("the board's pty").dropFirst("PTY ".count))
        let ending = try await Self.verify(port, ["--family", family, "--timeout", "5"])
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.output.contains(" 0 failed,"))
        await process.closeInput()
        _ = try await process.ending()
    }

    // MARK: Programs

    private static func verify(_ port: String, _ arguments: [String]) async throws -> ChildProcess.Ending {
        try await pumpctl(["--port", port, "verify"] + arguments).ending(within: .seconds(400))
    }

    private static func pumpctl(_ arguments: String...) async throws -> ChildProcess { try await pumpctl(arguments) }

    /// Starts pumpctl with folders that do not exist and can't be created, so that it reads and leaves no files of the
    /// user.
    private static func pumpctl(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess(
            [Executable.pumpctl] + arguments,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": ChildProcess.impossibleHome, "XDG_STATE_HOME": "/proc/nowhere",
                "PUMPCTL_RECORD": "0",
                "LD_LIBRARY_PATH": getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? "",
            ])
    }

    /// Returns the output of `pumpctl sim ctl CONTROL state`, by key.
    private static func state(_ control: String) async throws -> [String: String] {
        let ending = try await pumpctl("sim", "ctl", control, "state").ending()
        let pairs = ending.output.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        return Dictionary(
            uniqueKeysWithValues: pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1].dropFirst())) })
    }
}
