import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

/// Runs of the real program on a simulated pump. Each gets a signal at a moment that its seed determines.
///
/// If the program ends by itself, either the pump is off or the program has reported that the pump may be on. After
/// SIGKILL, or while the program is stopped, the output of the next command is true.
@Suite("Runs of on --for that are hit by a signal", .timeLimit(.minutes(60)))
struct OffRunTests {
    /// The signal that hits a run.
    enum Blow: CaseIterable {
        case interrupt, terminate, hangUp, quit, alarm, user, realTime, suspend, stop, kill

        var signal: CInt {
            switch self {
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .quit: SIGQUIT
            case .alarm: SIGALRM
            case .user: SIGUSR1
            case .realTime: __libc_current_sigrtmin() + 3
            case .suspend: SIGTSTP
            case .stop: SIGSTOP
            case .kill: SIGKILL
            }
        }
    }

    // 60 seeds are six for each signal.
    @Test(arguments: Seeds(60, soak: 3_000).pieces(20))
    func `After a signal the pump is off, or a warning says that it may be on`(seeds: Range<UInt64>) async throws {
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            let pump = try await BenchPump()
            let blow = Blow.allCases[Int(seed % UInt64(Blow.allCases.count))]
            try await run(blow, on: pump, seed: seed, &random)
            await pump.close()
        }
    }

    /// Runs the program until the signal hits it, and checks its report, the pump, and a later `pumpctl off`.
    private func run(_ blow: Blow, on pump: BenchPump, seed: UInt64, _ random: inout SplitMix64) async throws {
        // In half of the runs, the pump has received half a line from an earlier program.
        if Bool.random(using: &random) {
            await pump.host.change { pump, now in pump.receive(Array("STA".utf8), at: now) }
        }
        let time = ["10m", "10m", "0.05s"].randomElement(using: &random) ?? "10m"
        let folder = TemporaryFolder()
        let capture = Bool.random(using: &random) ? ["--capture", folder.path("pump.capture")] : []
        // SWIFT_BACKTRACE: otherwise, before main, Swift's runtime prints a backtrace at SIGQUIT and goes on.
        let program = try await Pumpctl.start(
            capture + ["-v", "-p", pump.port, "on", "--for", time], environment: ["SWIFT_BACKTRACE": "enable=no"])
        // The signal comes before, during or after any command: after a random number of traced lines. A run prints
        // eight of them up to "pump on".
        var shown = ""
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            guard let line = try? await program.errors.line() else { break }
            shown += line + "\n"
        }
        program.send(signal: blow.signal)
        switch blow {
        case .kill: try await checkNextCommand(after: program, pump, seed)
        case .stop, .suspend: try await checkStopped(program, pump, seed, shown)
        default:
            try await check(try await program.ending(), pump, seed, shown)
        }
        #expect(try await Pumpctl.run("-p", pump.port, "off").output == "pump off\n", "seed \(seed)")
        #expect(await pump.state() == .off, "seed \(seed)")
    }

    /// Expects that the pump is off, or that the ended program has warned that it may be on.
    ///
    /// - Parameter shown: The standard error that was already read.
    private func check(
        _ ending: ChildProcess.Ending, _ pump: BenchPump, _ seed: UInt64, _ shown: String
    ) async throws {
        let state = await pump.state()
        #expect(
            state == .off || (shown + ending.errors).contains("the pump may be on"),
            "seed \(seed): \(state), \(shown), \(ending)")
        if ending.output.hasSuffix("pump off\n") { #expect(state == .off, "seed \(seed): \(ending)") }
    }

    /// Expects that the next `pumpctl status` after the killed program reports the pump's real state.
    private func checkNextCommand(after program: ChildProcess, _ pump: BenchPump, _ seed: UInt64) async throws {
        _ = try await program.ending()
        let status = try await Pumpctl.run("-p", pump.port, "--json", "status")
        let state = try status.object()["state"] as? String
        #expect(state == (await pump.state()).rawValue.lowercased(), "seed \(seed): \(status)")
    }

    /// Expects that `pumpctl off` succeeds, or warns that the pump may be on, while the program is stopped, possibly
    /// with the port open.
    private func checkStopped(
        _ program: ChildProcess, _ pump: BenchPump, _ seed: UInt64, _ shown: String
    ) async throws {
        guard try await program.untilStopped() else {
            return try await check(try await program.ending(), pump, seed, shown)
        }
        let off = try await Pumpctl.run("-p", pump.port, "--timeout", "2", "off")
        let state = await pump.state()
        if off.status == 0 {
            #expect(state == .off, "seed \(seed): \(off)")
        } else {
            #expect(off.status == 69 && off.errors.contains("the pump may be on"), "seed \(seed): \(off)")
        }
        program.send(signal: SIGKILL)
        _ = try await program.ending()
    }
}
