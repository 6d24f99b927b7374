import ArgumentParser
import DeviceKit
import FirmwareSim
import PeripheralSim

struct SimCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Offer a simulated device to other programs.",
        discussion: ServingOptions.discussion,
        subcommands: FamilyRow.all.map { $0.simulator.command } + [SimControlCommand.self])
}

/// What `sim FAMILY` and `sim:FAMILY` are made of. The row is made where one of them is used: a start must not cost it.
protocol Simulation: SendableMetatype {
    static var configuration: CommandConfiguration { get }
    static var row: PeripheralSimulator { get }
}

extension Simulation {
    static var command: any ParsableCommand.Type { SimFamilyCommand<Self>.self }

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

    private func devices() throws -> [OfferedDevice] {
        let settings: SimulatorSettings
        do throws(SimulatorOptionError) { settings = try self.settings() } catch { throw ValidationError(error.words) }
        return try serving.devices(Simulated.row, settings)
    }

    func validate() throws { _ = try devices() }

    func run() throws {
        var options = shared.merged(with: parent.shared)
        options.json = options.json || serving.waits
        if try serving.startInBackground(Output(isJSON: options.json)) { return }
        let (devices, serving) = (try devices(), serving)
        try CommandRunner.runToStatus(options, for: Family(named: devices[0].family)) { context in
            try await DeviceServing(devices, serving, context).run()
        }
    }
}
