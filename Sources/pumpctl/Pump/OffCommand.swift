import ArgumentParser
import DeviceKit
import LineProtocol

struct OffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Stop the pump; also leaves the state in which it was stopped for safety.",
        discussion: """
            OFF is sent before anything else, and again until the pump acknowledges it or --timeout is over. Where another \
            pumpctl has the device, that one sends it.
            """,
        example: "pumpctl --port /dev/ttyUSB0 off")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    func run() throws {
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump, records: .values) { context in
            try await context.switchPumpOff()
            context.output.outcome("pump off", ResultRecord(pump: "off"))
        }
    }
}
