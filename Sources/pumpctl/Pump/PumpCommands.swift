import ArgumentParser
import DeviceKit
import LineProtocol

/// A command for a pump.
protocol PumpContextCommand: ContextCommand {}

extension PumpContextCommand {
    static var family: Family? { .pump }
    static var records: CommandContext.RecordedContent { .values }
}

struct OffCommand: PumpContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Stop the pump; also clears the error state after a stop for safety.",
        discussion: """
            OFF is sent before anything else, and repeated until the pump's status says that it is off or --timeout is over. \
            If another pumpctl has the device, that one sends OFF. Over BLE, finding the pump and connecting to it may take \
            longer than --timeout, up to a minute.
            """,
        example: "pumpctl --port /dev/ttyUSB0 off")
    static var isStop: Bool { true }

    @OptionGroup var shared: SharedOptions

    func run(in context: CommandContext) async throws {
        try await context.switchPumpOff()
        context.tellOff()
    }
}

struct SpeedCommand: PumpContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed", abstract: "Set the speed of the running pump.",
        example: "pumpctl --port /dev/ttyUSB0 speed 60%")

    @OptionGroup var shared: SharedOptions

    @Argument(
        help: ArgumentHelp("0 to 255, or 0% to 100%.", valueName: "speed"), transform: SpeedArgument.typed)
    var speed: PumpSpeed

    func run(in context: CommandContext) async throws {
        try await context.withPump { pump in
            try await pump.setSpeed(speed, timeout: context.timeout)
            context.output.outcome(
                "speed \(speed.pwm) (\(speed.percent) %)",
                ["ok": true, "state": "on", "speed_pwm": speed.pwm, "speed_percent": speed.percent] as ResultRecord)
        }
    }
}

struct StatusCommand: PumpContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of the pump.",
        example: "pumpctl --port ble:HMSoft status")

    @OptionGroup var shared: SharedOptions

    func run(in context: CommandContext) async throws {
        try await context.askPump { pump in
            let status = try await pump.readStatus(timeout: context.timeout)
            context.output.result(
                PumpText.table(PumpText.rows(status)), ResultRecord(status, with: ["ok": true]))
            context.warn(of: status)
        }
    }
}

struct TempCommand: PumpContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "temp", abstract: "Show the temperatures.",
        example: "pumpctl --port /dev/ttyUSB0 temp --json")

    @OptionGroup var shared: SharedOptions

    func run(in context: CommandContext) async throws {
        try await context.askPump { pump in
            let temperatures = try await pump.readTemperatures(timeout: context.timeout)
            context.output.result(
                PumpText.table(PumpText.rows(temperatures, temperatures.otherFields)),
                ResultRecord(temperatures, with: ["ok": true]))
            if !temperatures.isReported {
                context.output.note("pumpctl: warning: \(PumpText.absence(of: temperatures))")
            }
        }
    }
}
