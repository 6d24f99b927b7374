import ArgumentParser
import DeviceKit

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show a device's state live.",
        discussion: """
            Asks for the state at once and then at intervals, as the phone app does, and shows what the device says in \
            between when it says it. While the device does not answer its state is shown as unknown. A device that is \
            unplugged is waited for.

            Each line of --json has all of the keys time, link (up, lost), event (status, an event of the family as \
            manual, sensor_fault, error, text, no_answer, not_understood, refused, lost, back), text, what is known of the \
            device, and sensor_faults where it measures; what is unknown is null. Known are \(keys).
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

    /// The keys of the families' states, with the words that they may have.
    private static var keys: String {
        FamilyRow.all.map(\.family).filter { $0.wire.follow != nil }.map { family in
            let keys = family.state.map { field in
                guard case .choice(let words) = field.value, field.key != "error" else { return field.key }
                return "\(field.key) (\((words + [field.unknownWord].compactMap(\.self)).joined(separator: ", ")))"
            }
            return "of \(family.device) \(keys.joined(separator: ", "))"
        }.joined(separator: "; ")
    }

    func run() throws {
        let (interval, count, time) = (interval.duration, count, time?.duration)
        try CommandRunner.run(shared.merged(with: parent.shared), records: .values) { context in
            try await Monitor(context: context, interval: interval, time: time, count: count).run()
        }
    }
}
