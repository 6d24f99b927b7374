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

    /// The simulated devices: one of each family, and the BLE module.
    static let simulations: [any Simulation.Type] = FamilyRow.all.map(\.simulator) + [ModuleSimulation.self]

    /// Returns the simulated device with a name; nil if there is none.
    static func simulator(of name: String) -> PeripheralSimulator? {
        simulations.lazy.map { $0.row }.first { $0.line.name == name }
    }
}

/// The definition of the command `sim FAMILY` and of the endpoint `sim:FAMILY`.
protocol Simulation: SendableMetatype {
    static var configuration: CommandConfiguration { get }
    /// The simulator and its options. Created on use, so that it does not slow each start of pumpctl.
    static var row: PeripheralSimulator { get }
    /// Whether the device has a line even if it is offered over BLE.
    static var keepsLineOverRadio: Bool { get }
}

extension Simulation {
    static var command: any ParsableCommand.Type { SimFamilyCommand<Self>.self }

    static var keepsLineOverRadio: Bool { false }

    /// Returns the configuration of the command `sim NAME`.
    ///
    /// - Parameter remark: A remark on this device, after the text for all devices.
    static func simulating(
        _ name: String, _ device: String, _ remark: String = "", example: String
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: "Offer \(device).", discussion: ServingOptions.discussion + remark,
            example: "pumpctl sim \(name) \(example)")
    }
}

/// The command `sim FAMILY`, or `sim module`.
struct SimFamilyCommand<Simulated: Simulation>: ParsableCommand {
    static var configuration: CommandConfiguration { Simulated.configuration }
    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }
    @OptionGroup(title: "Place") var serving: ServingOptions
    @OptionGroup(title: "Device") var device: SimulatorArguments<Simulated, DevicePart>
    @OptionGroup(title: "Faults") var faults: SimulatorArguments<Simulated, FaultPart>
    @OptionGroup(title: "Tests of a program") var tests: SimulatorArguments<Simulated, ProgramPart>

    /// The options of the device on the command line, by their names.
    private var typed: [String: String] {
        [device.given, faults.given, tests.given].reduce(into: [:]) { all, part in all.merge(part) { $1 } }
    }

    /// Returns the devices to offer.
    ///
    /// - Parameter given: The options of the device as typed, by their names.
    private func devices(_ given: [String: String]) throws -> [OfferedDevice] {
        let settings: SimulatorSettings
        do throws(SimulatorOptionError) {
            settings = try Simulated.row.line.settings(given, over: serving.usesRadio ? .radio : .line)
        } catch {
            throw ValidationError(error.words)
        }
        return try serving.devices(Simulated.row, settings, keepsLine: Simulated.keepsLineOverRadio)
    }

    func validate() throws {
        if !Simulated.keepsLineOverRadio { try serving.refuseLineBesideRadio() }
        // With a scenario, `run()` checks the options together with those of the file.
        _ = try devices(serving.scenario == nil ? typed : [:])
    }

    /// Returns the options of the device, from the command line and the scenario.
    private func given() throws(Failure) -> [String: String] {
        guard let path = serving.scenario else { return typed }
        let line = Simulated.row.line
        return try ScenarioFile.options(at: path, for: line.name, beside: typed, of: line.options) {
            option throws(SimulatorOptionError) in
            try line.check(option, over: serving.usesRadio ? .radio : .line)
        }
    }

    func run() throws {
        var options = shared
        options.json = options.json || serving.waits
        if try serving.startInBackground(Output(isJSON: options.json)) { return }
        let serving = serving
        let devices: [OfferedDevice]
        do { devices = try self.devices(given()) } catch {
            let failure = error as? Failure ?? Failure(.usage, code: "usage", "\(error)")
            Output(isJSON: options.json).report(failure)
            throw ExitCode(failure.status.rawValue)
        }
        try CommandRunner.runToStatus(options, for: Family(named: devices[0].family)) { context in
            try await DeviceServing(devices, serving, context).run()
        }
    }
}
