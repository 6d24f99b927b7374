import ArgumentParser
import CVersion
import DescriptorIO
import Glibc
import Terminal

/// The program `pumpctl`. ``main()`` splits the command line, parses the command's part of it, and runs the command.
/// Without a command, the program prints an ``Overview``.
@main
struct PumpctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctl",
        abstract: "Control bench devices that speak a line protocol, over a serial port or Bluetooth.",
        discussion: """
            An endpoint is a path (/dev/ttyUSB0 or ./pump), or usb:VID:PID, ble:NAME, tcp:HOST:PORT, unix:PATH, shared:NAME, sim:FAMILY, replay:FILE. Without --port, the environment \
            variable PUMPCTL_PORT is used, then "port" in ~/.config/pumpctl/config.json, then the only USB serial port.

            Exit codes: 0 done; 1 the device answered ERROR; 2 a check failed; 3 the pump was stopped for safety; 64 usage; 66 no such port or \
            device, or several; 69 busy (names the program that has the port open), or Bluetooth is off, or no pumpctld runs; 74 link broken; 75 no answer in time; 76 unexpected reply; \
            77 not permitted; 130 interrupted.
            """,
        version: String(cString: cversion()),
        groupedSubcommands: [
            CommandGroup(name: "Pump", subcommands: FamilyRow.all.filter { $0.noun == nil }.flatMap(\.commands)),
            CommandGroup(
                name: "Other families", subcommands: FamilyRow.all.filter { $0.noun != nil }.flatMap(\.commands)),
            CommandGroup(
                name: "Any device",
                subcommands: [
                    MonitorCommand.self, HistoryCommand.self, ConsoleCommand.self, SendCommand.self, PortsCommand.self,
                    ScanCommand.self, GATTCommand.self, ModuleCommand.self, ForgetCommand.self,
                    RecordCommand.self, ReplayCommand.self, ServeCommand.self, PageCommand.self,
                    DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Simulation and tests", subcommands: [SimCommand.self, VerifyCommand.self, LatencyCommand.self]),
        ])

    @OptionGroup var shared: SharedOptions

    func run() throws {
        let name = shared.port ?? "/dev/ttyUSB0"
        guard shared.isBare else {
            throw ValidationError("name a command after the options, e.g. pumpctl --port \(name) status")
        }
        do { try Overview.show(Output(isJSON: shared.json)) } catch { throw Failure(of: error) }
    }

    /// Parses the arguments and runs the command. With `--json`, usage errors are also printed as an object.
    static func main() {
        StandardStream.openMissing()
        // As process 1 of a container, this program would have to reap the orphans of a program that it starts, so it
        // continues in a child process. Only the user's own program, named after `--`, is expected to leave orphans.
        if ProgramArguments.all.contains("--") { ProgramStart.leaveInit() }
        TerminalSize.boundColumnsOfHelp()
        // With SIGXFSZ ignored, a write beyond the limit on file sizes fails with EFBIG, which is reported like other
        // errors.
        signal(SIGXFSZ, SIG_IGN)
        let arguments = ProgramArguments.typed(by: "pumpctl")
        if let request = CompletionRequest(arguments) { request.answer() }
        let line = CommandLine(arguments)
        do {
            try line.check()
            // `serve` has the options and the help of pumpctld, so this parser does not parse them.
            if line.command == ServeCommand.self { throw ServeCommand.replaceThis(line.arguments) }
            var command = try line.parsed()
            try command.run()
        } catch let failure as Failure {
            end(with: failure, of: line)
        } catch {
            // A command that throws an `ExitCode` has already reported its failure.
            if !(error is ExitCode) { end(with: error, of: line) }
            exit(withError: error)
        }
    }

    /// Prints the requested help or version, or reports a usage error, and exits. Returns for any other error.
    private static func end(with error: any Error, of line: CommandLine) {
        switch exitCode(for: error) {
        case .success:
            let output = Output(isJSON: false)
            output.text(fullMessage(for: error))
            guard let errno = output.failure else { Glibc.exit(0) }
            let failure = Failure(standardOutput: errno, outcome: nil)
            if failure.status != .brokenPipe { output.report(failure) }
            Glibc.exit(failure.status.rawValue)
        case .validationFailure:
            let name = (["pumpctl"] + line.path).joined(separator: " ")
            let text = plain(line.command.message(for: error))
            end(with: Failure(.usage, code: "usage", text, hint: "see \(name) --help"), of: line)
        default: break
        }
    }

    /// Reports an error of the command line, which was not carried out, and exits.
    private static func end(with failure: Failure, of line: CommandLine) -> Never {
        var failure = failure
        if line.command == OffCommand.self { failure.sayThatOffWasNotSent() }
        line.output.report(failure)
        Glibc.exit(failure.status.rawValue)
    }

    /// Returns the parser's message in the style of other messages, which begin in lower case.
    private static func plain(_ text: String) -> String {
        let word = text.prefix { $0.isLetter }
        guard let first = word.first, first.isUppercase, word.dropFirst().allSatisfy(\.isLowercase) else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
