import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimRescueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rescue", abstract: "Offer a simulated phone with the rescue app.",
        discussion: ServingOptions.discussion
            + " Over BLE its messages wait until a central has subscribed.",
        example: "pumpctl sim rescue --link ./phone --messages 20")

    /// More than any phone holds.
    static let mostMessages = 1_000_000_000
    /// More than any link takes at once.
    static let mostSplit = 1_000_000

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var radio: RadioOptions

    @Option(help: ArgumentHelp("What its messages and faults depend on.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many messages it has; each is sent once.", valueName: "number"))
    var messages = 5

    @Option(help: ArgumentHelp("The time before each of them; 0 sends all at once.", valueName: "time"))
    var interval = "1s"

    @Option(help: ArgumentHelp("Let 1 to so many bytes leave at once.", valueName: "bytes"))
    var split: Int?

    @Option(help: ArgumentHelp("How many of its messages something malformed precedes.", valueName: "percent"))
    var malformed = 0

    @Flag(help: "Do not hand on what it receives.")
    var hoard = false

    func validate() throws {
        guard (0...Self.mostMessages).contains(messages) else {
            throw ValidationError("--messages is 0 to \(Self.mostMessages)")
        }
        guard interval == "0" || SecondsArgument(argument: interval) != nil else {
            throw ValidationError("--interval is a time, as 500ms or 2s, or 0")
        }
        if let split, !(1...Self.mostSplit).contains(split) {
            throw ValidationError("--split is 1 to \(Self.mostSplit)")
        }
        guard (0...100).contains(malformed) else { throw ValidationError("--malformed is 0 to 100") }
        try radio.check(beside: serving)
    }

    func run() throws {
        let options = RescueFirmwareOptions(
            carrier: .line(serving.lineRate(.rescue)), seed: seed, messages: messages,
            interval: SecondsArgument(argument: interval)?.duration ?? .zero, split: split, malformed: malformed,
            forwards: !hoard)
        let (serving, radio) = (serving, radio)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .rescue) { context in
            if radio.isWanted {
                return try await radio.serve(RescuePeripheral(options, name: radio.name ?? "Rescue"), context)
            }
            try await serving.serve(RescueFirmware(options: options), context)
        }
    }
}
