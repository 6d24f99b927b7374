import ArgumentParser
import DeviceKit
import LineProtocol

struct SpeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed", abstract: "Set the speed of the running pump.",
        example: "pumpctl --port /dev/ttyUSB0 speed 60%")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(
        help: ArgumentHelp("0 to 255, or 0% to 100%.", valueName: "speed"), transform: SpeedArgument.typed)
    var speed: PumpSpeed

    func run() throws {
        let speed = speed
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump, records: .values) { context in
            try await context.withPump { pump in
                try await pump.setSpeed(speed, timeout: context.timeout)
                context.output.outcome(
                    "speed \(speed.pwm) (\(speed.percent) %)",
                    ResultRecord(pump: "on", speedPWM: Int(speed.pwm), speedPercent: speed.percent))
            }
        }
    }
}

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what the pump does.",
        example: "pumpctl --port ble:HMSoft status")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    func run() throws {
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump, records: .values) { context in
            try await context.retryingQuery {
                try await context.withPump { pump in
                    let status = try await pump.readStatus(timeout: context.timeout)
                    context.output.result(PumpText.table(PumpText.rows(status)), ResultRecord(status))
                    context.warn(of: status)
                }
            }
        }
    }
}

struct TempCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "temp", abstract: "Show what the thermistors read.",
        example: "pumpctl --port /dev/ttyUSB0 temp --json")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    func run() throws {
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump, records: .values) { context in
            try await context.retryingQuery {
                try await context.withPump { pump in
                    let temperatures = try await pump.readTemperatures(timeout: context.timeout)
                    context.output.result(
                        PumpText.table(PumpText.rows(temperatures, temperatures.otherFields)),
                        ResultRecord(temperatures))
                    if !temperatures.isReported {
                        context.output.note("pumpctl: warning: the pump reports no temperature")
                    }
                }
            }
        }
    }
}
