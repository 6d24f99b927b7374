import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimPumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pump", abstract: "Offer a simulated pump.", discussion: ServingOptions.discussion,
        example: "pumpctl sim pump --link ./pump")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var radio: RadioOptions

    @Option(help: "How many thermistors the pump has, 0, 1 or 2.")
    var thermistors = 2

    @Option(
        help: ArgumentHelp(
            "Where the speed knob stands, 0 to 1023; at 716 it agrees with the speed that ON starts at.",
            valueName: "reading"))
    var knob = PumpFirmwareOptions().potentiometer

    @Option(help: "What the pump prints when it starts: off, hello or banner.")
    var banner: BannerName = .off

    func validate() throws {
        guard (0...2).contains(thermistors) else { throw ValidationError("a pump has 0, 1 or 2 thermistors") }
        guard (0...1023).contains(knob) else { throw ValidationError("--knob is a reading from 0 to 1023") }
        try radio.check(beside: serving, hasLine: true)
    }

    func run() throws {
        let options = PumpFirmwareOptions(
            lineRate: serving.lineRate(.pump), thermistors: .init(rawValue: thermistors) ?? .two,
            bootBanner: banner.firmware, potentiometer: knob)
        let (serving, radio) = (serving, radio)
        try CommandRunner.run(shared.merged(with: parent.shared), for: .pump) { context in
            var pump = PumpFirmware(options: options)
            if options.bootBanner != .off { pump.reset(at: .zero) }
            guard radio.isWanted else { return try await serving.serve(pump, context) }
            let module = HM10Module(pump, name: radio.name ?? "HMSoft", lineRate: options.lineRate)
            try await radio.serve(module, context)
        }
    }
}

/// What the pump prints when it starts.
enum BannerName: String, ExpressibleByArgument, CaseIterable {
    case off, hello, banner

    var firmware: PumpFirmwareOptions.BootBanner {
        switch self {
        case .off: .off
        case .hello: .hello
        case .banner: .banner
        }
    }
}
