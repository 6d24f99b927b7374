import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimLEDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "led", abstract: "Offer a simulated LED board.", discussion: ServingOptions.discussion,
        example: "pumpctl sim led --ble --name ece196")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var radio: RadioOptions

    @Flag(help: "The LED is lit at the beginning.")
    var lit = false

    @Flag(help: "Take a value without a word; over BLE, without a notification.")
    var mute = false

    func validate() throws { try radio.check(beside: serving) }

    func run() throws {
        let (serving, radio, lit, mute) = (serving, radio, lit, mute)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .led) { context in
            guard radio.isWanted else {
                let board = LEDFirmware(lineRate: serving.lineRate(.led), isLit: lit, answersSets: !mute)
                return try await serving.serve(board, context)
            }
            let board = LEDPeripheral(name: radio.name ?? "ece196", isLit: lit, notifies: !mute)
            try await radio.serve(board, context)
        }
    }
}
