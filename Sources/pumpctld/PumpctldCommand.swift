import ArgumentParser
import CVersion
import DeviceKit
import DescriptorIO
import Glibc
import LineProtocol
import Logging
import Terminal

/// The command line of the daemon that shares devices among programs.
@main
struct PumpctldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctld", abstract: "Share devices among programs.",
        usage: """
            pumpctl serve [--config <file>] [--verbose]
            pumpctl serve --port <endpoint> [--pty <path>] [--tcp <port>] [--unix <path>] [<options>]
            """,
        discussion: """
            Holds the link to each device and sends one command at a time, so that several programs can use a device at once. \
            Runs in the foreground and logs to standard error. Without --port, the devices of the configuration file are shared: \
            ~/.config/pumpctl/pumpctld.toml, or /etc/pumpctl/pumpctld.toml.

            Example: pumpctl serve --port usb:1a86:7523 --pty /tmp/pump --tcp 4000
            """,
        version: String(cString: cversion()))

    @OptionGroup var options: ServeOptions

    static func main() {
        StandardStream.openMissing()
        // With these signals ignored, a write fails with an error if the log's reader or a client is gone, or if a file
        // has reached its size limit.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        DescriptorLimit.raise()
        // After a pause, as by SIGSTOP, lines that were sent before its end are outdated, and must not change a device.
        ProcessPauses.count()
        main(ProgramArguments.typed(by: "pumpctld"))
    }

    func run() throws {
        let format: LogFormat = JournalStream.isOpen() ? .journal : .plain
        let configuration: DaemonConfiguration
        do throws(DaemonFailure) { configuration = try options.configuration() } catch {
            Self.report(error, format)
            throw ExitCode(error.status.rawValue)
        }
        let status = EventLoop.run { loop in
            let work = InterruptibleWork()
            return await work.run(on: loop) {
                try await Self.serve(configuration, on: loop, format)
            } conclude: { result in
                if case .failure(let failure as DaemonFailure) = result {
                    Self.report(failure, format)
                    return failure.status.rawValue
                }
                // A service manager ends a service with SIGTERM, so this is a success.
                if work.exitStatus == 128 + SIGTERM { return 0 }
                work.endProcess()
                return work.exitStatus ?? 0
            }
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Runs the daemon until the task is cancelled or the daemon fails, and then writes the rest of the log.
    private static func serve(
        _ configuration: DaemonConfiguration, on loop: EventLoop, _ format: LogFormat
    ) async throws {
        // Created here and not in `run()`, since `InterruptibleWork` has blocked the signals by now. A thread that was
        // started before would receive them.
        let output = LogOutput { count in
            format.line(.warning, "the log was read too slowly: lines were lost", ["lines": "\(count)"])
        }
        let log = Logger(label: "pumpctld") { _ in
            LineLogHandler(format, level: configuration.daemon.logLevel) { output.write($0) }
        }
        let daemon = try Daemon(configuration, on: loop, log: log, manager: .ours)
        let result: Result<Void, DaemonFailure>
        do throws(DaemonFailure) { result = .success(try await daemon.run()) } catch { result = .failure(error) }
        // Use a task of its own, since a signal may have cancelled this one. The time limit is for a log that nobody
        // reads any more.
        await Task(executorPreference: loop) {
            _ = await withTimeLimit(.milliseconds(500), clock: EventLoopClock(loop), on: loop) { await output.flush() }
        }.value
        try result.get()
    }

    /// Reports the reason why the daemon does not run.
    private static func report(_ failure: DaemonFailure, _ format: LogFormat) {
        switch format {
        case .journal: StandardStream.error.write(format.line(.error, "\(failure)", [:]))
        case .plain:
            let (message, hint) = (failure.message.printable(), failure.hint.printable())
            StandardStream.error.write("pumpctld: \(message)\n  hint: \(hint)\n")
        }
    }
}
