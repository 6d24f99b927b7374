import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Offer a simulated device to other programs.",
        discussion: ServingOptions.discussion,
        subcommands: simulations.map { $0.command } + [SimControlCommand.self])

    /// The simulated devices: one of each family, and what devices are connected by.
    static let simulations: [any Simulation.Type] = FamilyRow.all.map(\.simulator) + [ModuleSimulation.self]
}

/// What `sim FAMILY` and `sim:FAMILY` are made of. The row is made where one of them is used: a start must not cost it.
protocol Simulation: SendableMetatype {
    static var configuration: CommandConfiguration { get }
    static var row: PeripheralSimulator { get }
    /// Whether the device has a line also where it is offered over BLE.
    static var keepsLineOverRadio: Bool { get }
}

extension Simulation {
    static var command: any ParsableCommand.Type { SimFamilyCommand<Self>.self }

    static var keepsLineOverRadio: Bool { false }

    /// - Parameter remark: What is to say of it behind what is to say of all.
    static func simulating(
        _ name: String, _ device: String, _ remark: String = "", example: String
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: "Offer \(device).", discussion: ServingOptions.discussion + remark,
            example: "pumpctl sim \(name) \(example)")
    }
}

struct SimFamilyCommand<Simulated: Simulation>: OptionedCommand {
    static var configuration: CommandConfiguration { Simulated.configuration }
    static var takenOptions: Set<SharedOption> { [.json] }

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup var serving: ServingOptions
    @OptionGroup var device: SimulatorArguments<Simulated>

    private func settings() throws(SimulatorOptionError) -> SimulatorSettings {
        try Simulated.row.line.settings(device.given, over: serving.usesRadio ? .radio : .line)
    }

    func validate() throws {
        if !Simulated.keepsLineOverRadio { try serving.refuseLineBesideRadio() }
        do { _ = try settings() } catch { throw ValidationError(error.words) }
    }

    func run() throws {
        let options = shared.merged(with: parent.shared)
        if try serving.startInBackground(Output(isJSON: options.json)) { return }
        let (row, settings, serving) = (Simulated.row, try settings(), serving)
        let end = ServedCommand.End()
        try CommandRunner.run(options, for: Family(named: row.line.name)) { context in
            // What happens by chance happens again with the same seed.
            if !settings.faults().isEmpty { context.output.note("pumpctl: faults by the seed \(settings.seed())") }
            try await serving.controlling(row.line.name, context) { onDevice in
                if serving.usesRadio, Simulated.keepsLineOverRadio {
                    return try await serving.serveOverRadioToo(row, settings, context, onDevice)
                }
                if serving.usesRadio {
                    let (name, output) = (settings.text("name") ?? "", context.output)
                    try await row.serve(
                        settings, onAdapter: serving.adapter, on: context.loop, onDevice: { onDevice(1, $0) }
                    ) {
                        ServingOptions.tell($0, of: name, output)
                    }
                    return
                }
                let offer: ServingOptions.Offer = { number, place, tell in
                    try await row.line.serve(
                        settings.numbered(number), at: place, on: context.loop, onDevice: { onDevice(number, $0) },
                        onEvent: tell)
                }
                guard serving.runsCommand else { return try await serving.serve(context, offer) }
                end.status = try await serving.servingCommand(row.line.name, context, offer)
            }
        }
        if end.status != 0 { throw ExitCode(end.status) }
    }
}
