import ArgumentParser
import DescriptorIO
import Glibc
import Terminal

@main
struct PumpctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctl",
        abstract: "Control bench devices that speak a line protocol, over a serial port or Bluetooth.",
        discussion: """
            An endpoint is a path (/dev/ttyUSB0 or ./pump), or usb:VID:PID, ble:NAME, tcp:HOST:PORT, unix:PATH, shared:NAME, sim:FAMILY, replay:FILE. Without --port the environment \
            variable PUMPCTL_PORT counts, then "port" in ~/.config/pumpctl/config.json, then the only USB port there is.

            Exit codes: 0 done; 1 the device answered ERROR; 2 a check failed; 3 the pump was stopped for safety; 64 usage; 66 no such port or \
            device, or several; 69 busy (names the program that has the port open), or Bluetooth is off, or no pumpctld runs; 74 link broken; 75 no answer in time; 76 unexpected reply; \
            77 not permitted; 130 interrupted.
            """,
        version: "0.1.0",
        groupedSubcommands: [
            CommandGroup(name: "Pump", subcommands: FamilyRow.all.filter { $0.noun == nil }.flatMap(\.commands)),
            CommandGroup(
                name: "Other families", subcommands: FamilyRow.all.filter { $0.noun != nil }.flatMap(\.commands)),
            CommandGroup(
                name: "Any device",
                subcommands: [
                    MonitorCommand.self, HistoryCommand.self, ConsoleCommand.self, SendCommand.self, PortsCommand.self,
                    ScanCommand.self, GATTCommand.self, ModuleCommand.self, ForgetCommand.self,
                    RecordCommand.self, ReplayCommand.self, ServeCommand.self, DoctorCommand.self,
                ]),
            CommandGroup(
                name: "Simulation and tests", subcommands: [SimCommand.self, VerifyCommand.self, LatencyCommand.self]),
        ])

    @OptionGroup var shared: SharedOptions

    func run() throws {
        let name = shared.port ?? "/dev/ttyUSB0"
        guard shared.isBare else {
            throw ValidationError("name a command after the options, as in: pumpctl --port \(name) status")
        }
        do { try Overview.show(Output(isJSON: shared.json)) } catch { throw Failure(of: error) }
    }

    /// Parses and runs. What is wrong with the arguments is told to programs as an object too.
    static func main() {
        StandardStream.openMissing()
        // Of another program's children, process 1 of a container inherits those that it leaves.
        if ProgramArguments.all.contains("--") { ProgramStart.leaveInit() }
        TerminalSize.boundColumnsOfHelp()
        // A file that may grow no further is an error like others, and is told of.
        signal(SIGXFSZ, SIG_IGN)
        let line = CommandLine(ProgramArguments.typed(by: "pumpctl"))
        do {
            try line.check()
            // Its options, and its help, are those of another program.
            if line.command == ServeCommand.self { throw ServeProgram.replaceThis(line.arguments) }
            var command = try line.parsed()
            try command.run()
        } catch let failure as Failure {
            line.output.report(failure)
            Glibc.exit(failure.status.rawValue)
        } catch {
            // A status that a command ended with has been explained already.
            if !(error is ExitCode) { end(with: error, of: line) }
            exit(withError: error)
        }
    }

    /// Ends with help or a version that was asked for, or with what is wrong with the arguments of a command.
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
            let failure = Failure(.usage, code: "usage", text, hint: "see \(name) --help")
            line.output.report(failure)
            Glibc.exit(failure.status.rawValue)
        default: break
        }
    }

    /// A message of the parser as others are written: it begins in lower case.
    private static func plain(_ text: String) -> String {
        let word = text.prefix { $0.isLetter }
        guard let first = word.first, first.isUppercase, word.dropFirst().allSatisfy(\.isLowercase) else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
