import ArgumentParser
import FirmwareSim

struct SimLEDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "led", abstract: "Offer a simulated LED board.", discussion: ServingOptions.discussion)

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions
    @OptionGroup var serving: ServingOptions

    @Flag(help: "The LED is lit at the beginning.")
    var lit = false

    @Flag(help: "Take a value without a word.")
    var mute = false

    func run() throws {
        let board = LEDFirmware(lineRate: serving.lineRate(.led), isLit: lit, answersSets: !mute)
        let serving = serving
        try CommandRunner.run(shared.merged(with: parent.shared), for: .led) { context in
            try await serving.serve(board, context)
        }
    }
}
