import ArgumentParser
import Glibc

@main
struct PumpctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctl",
        abstract: "Control bench devices that speak a line protocol, over a serial port or Bluetooth.",
        discussion: """
            A port is a path (/dev/ttyUSB0), or usb:VID:PID, ble:NAME, tcp:HOST:PORT, unix:PATH, sim:FAMILY. Without --port the environment \
            variable PUMPCTL_PORT counts, then "port" in ~/.config/pumpctl/config.json, then the only USB port there is.

            Exit codes: 0 done; 1 the device answered ERROR; 3 the pump was stopped for safety; 64 usage; 66 no such port or \
            device, or several; 69 busy, or Bluetooth is off; 74 link broken; 75 no answer in time; 76 unexpected reply; \
            77 not permitted; 130 interrupted.
            """,
        version: "0.1.0",
        groupedSubcommands: [
            CommandGroup(
                name: "Pump",
                subcommands: [OnCommand.self, OffCommand.self, SpeedCommand.self, StatusCommand.self, TempCommand.self]
            ),
            CommandGroup(
                name: "Other families",
                subcommands: [
                    LogCommand.self, LEDCommandGroup.self,
                    MessageCommand.self,
                ]),
            CommandGroup(
                name: "Peer",
                subcommands: [SayCommand.self, ToggleCommand.self, ImageCommand.self, PeerCommandGroup.self]),
            CommandGroup(
                name: "Any device",
                subcommands: [
                    MonitorCommand.self, HistoryCommand.self, ConsoleCommand.self, SendCommand.self, PortsCommand.self,
                    ScanCommand.self, ForgetCommand.self,
                    DoctorCommand.self,
                ]),
            CommandGroup(name: "Simulation", subcommands: [SimCommand.self]),
        ])

    @OptionGroup var shared: SharedOptions

    /// Parses and runs; what is wrong with the arguments is said with a hint where ArgumentParser has none.
    static func main() {
        StandardStreams.open()
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let failure = SpeedArgument.negativeNumber(in: arguments) {
            Output(isJSON: arguments.contains("--json")).report(failure)
            Glibc.exit(failure.status.rawValue)
        }
        main(arguments)
    }
}
