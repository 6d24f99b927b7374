import ArgumentParser
import DeviceKit

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show the pump's state live.",
        discussion: """
            Asks for the state at once and then at intervals, as the phone app does, and shows what the pump says in \
            between when it says it. While the pump does not answer its state is shown as unknown. A device that is \
            unplugged is waited for.

            Each line of --json has all of the keys time, link (up, lost), event (status, manual, error, text, \
            no_answer, not_understood, refused, lost, back), text, state (on, off, error, unknown), speed_percent, \
            speed_pwm, water_temp_c, skin_temp_c, temp_c, sensor_faults, runtime_min, remaining_min, runtime_progress \
            (of 30 minutes, 0 to 1), last_control (app, manual), error, and safety_shutoff; what is unknown is null.
            """,
        example: "pumpctl --port /dev/ttyUSB0 monitor --interval 10s")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("How often to ask.", valueName: "time"), transform: SecondsArgument.typed)
    var interval = SecondsArgument(argument: "5s")!

    @Option(help: ArgumentHelp("End after so many updates.", valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more") }
        // A pump takes a quarter of a second to answer; to ask sooner is to hold up whoever wants to command it.
        if interval.duration < .milliseconds(500) { throw ValidationError("--interval is 0.5s or more") }
    }

    func run() throws {
        let (interval, count, time) = (interval.duration, count, time?.duration)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump, records: .values) { context in
            try await Monitor(context, interval: interval, count: count).run(for: time)
        }
    }
}
