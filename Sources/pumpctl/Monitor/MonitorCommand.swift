import ArgumentParser
import DeviceKit
import LineProtocol
import Transports

struct MonitorCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show a device's state live.",
        discussion: """
            Queries the state at once and then at intervals, as the phone app does, and shows unsolicited messages as they \
            arrive. While the device does not answer, its state is shown as unknown. If the device is unplugged, waits for its \
            return.

            To a device of the family raw, monitor sends nothing: it shows each line with the time. Its --json has the keys \
            time, line and whole.

            Each line of --json has the keys time, link (up, lost), event (status, an event of the family such as \
            manual, sensor_fault, error, text, no_answer, not_understood, refused, lost, back), text, the values of the \
            device, and sensor_faults if it has sensors; an unknown value is null. Values \
            of a pump: state (on, off, error, unknown), speed_percent, speed_pwm, water_temp_c, skin_temp_c, temp_c, runtime_min, \
            remaining_min, runtime_progress, last_control (app, manual), error, safety_shutoff; of an LED board: led.
            """,
        example: "pumpctl --port /dev/ttyUSB0 monitor --interval 10s")

    @OptionGroup var shared: SharedOptions

    @Option(help: ArgumentHelp("Time between two queries.", valueName: "time"), transform: SecondsArgument.typed)
    var interval = SecondsArgument(argument: "5s")!

    @Option(help: ArgumentHelp("End after this many updates.", valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("End after this time.", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        // A pump takes a quarter of a second to answer. More frequent queries would delay other programs' commands.
        if interval.duration < .milliseconds(500) { throw ValidationError("--interval must be 0.5s or more") }
    }

    static var records: CommandContext.RecordedContent { .values }

    /// Shows and records the device's state until `count` updates were shown, the time is over, or a signal ends the
    /// command.
    func run(in context: CommandContext) async throws {
        if context.family == .raw { return try await LineMonitor(context, count: count).run(for: time?.duration) }
        guard let follow = context.family.wire.follow else {
            throw Failure(
                .usage, code: "no_state", "\(context.family.device) has no state query, so there is nothing to monitor",
                hint: "show its output: pumpctl console", outcome: "not_sent")
        }
        let endpoint = try context.endpoint()
        let screen = MonitorScreen(context.output)
        let link = try await context.openLink(endpoint, for: .watching, note: screen.note)
        let monitor = try await follow(
            link, context.reconnector(endpoint, link, note: screen.note),
            FamilyMonitor.Options(
                interval: interval.duration, timeout: context.timeout, clock: context.clock, executor: context.loop))
        try await withCleanup({
            screen.end()
            await monitor.close()
        }) {
            try await context.run(for: time?.duration, whileRead: true) {
                try await show(monitor, of: endpoint, on: screen, context)
            }
        }
    }

    private func show(
        _ monitor: FamilyMonitor, of endpoint: Endpoint, on screen: MonitorScreen, _ context: CommandContext
    ) async throws {
        let recording = try await Recording.begin(context, endpoint, isDefault: true, note: screen.note)
        var shown = 0
        for try await update in monitor {
            if update.isUrgent { context.output.ringBell() }
            screen.show(update)
            recording?.record(update, of: endpoint)
            shown += 1
            if shown == count { return }
        }
        throw CancellationError()
    }
}
