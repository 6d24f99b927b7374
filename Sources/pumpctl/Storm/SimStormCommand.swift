import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimStormCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm", abstract: "Offer a simulated storm sensor.",
        discussion: ServingOptions.discussion
            + " With --ble a piece of its log is sent every 10 ms, as by an ESP32, or with --unpaced as fast as it is taken.",
        example: "pumpctl sim storm --link ./storm --rows 5000")

    /// More than any flash holds.
    static let mostRows = 1_000_000_000

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var radio: RadioOptions

    @Option(help: ArgumentHelp("What the measurements depend on.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many rows are stored at the beginning.", valueName: "number"))
    var rows = 100

    @Option(help: ArgumentHelp("The time between two measurements; 'off' for none.", valueName: "time"))
    var interval = "1s"

    @Flag(help: "Echo the command that asks for the log.")
    var echo = false

    func validate() throws {
        guard (0...Self.mostRows).contains(rows) else { throw ValidationError("--rows is 0 to \(Self.mostRows)") }
        guard interval == "off" || SecondsArgument(argument: interval) != nil else {
            throw ValidationError("--interval is a time, as 500ms or 2s, or off")
        }
        try radio.check(beside: serving)
    }

    func run() throws {
        let options = StormFirmwareOptions(
            lineRate: serving.lineRate(.storm), seed: seed, rows: rows,
            interval: SecondsArgument(argument: interval)?.duration, echoesCommand: echo)
        let (serving, radio) = (serving, radio)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .storm) { context in
            guard radio.isWanted else { return try await serving.serve(StormFirmware(options: options), context) }
            let pause = serving.unpaced ? .zero : StormPeripheral.defaultPause
            try await radio.serve(
                StormPeripheral(options: options, name: radio.name ?? "storm", pause: pause), context)
        }
    }
}
