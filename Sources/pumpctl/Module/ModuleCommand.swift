import ArgumentParser
import DeviceKit

struct ModuleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "module",
        abstract: "Set up a BLE module, an HM-10 or a clone, at its UART.",
        discussion: """
            Connect the module's UART to the computer, by a USB adapter with 3.3 V levels, and name that port by --port. The \
            module's kind and its baud rate are detected; -v shows each attempt. A serial port is tried at all baud rates of \
            modules, unless the endpoint names one (serial:/dev/ttyUSB0?baud=115200). While a central is connected, a module \
            accepts no commands; a genuine HM-10 disconnects the central.

            If a pump answers instead of a module, the command stops. The command sends nothing that changes the state of a pump.
            """,
        subcommands: [ModuleInfoCommand.self, ModuleNameCommand.self, ModuleBaudCommand.self])
}

/// A command for a BLE module.
protocol ModuleContextCommand: ContextCommand {
    var own: ModuleOptions { get }
    var dialect: ModuleDialectArgument { get }
}

extension ModuleContextCommand {
    static var records: CommandContext.RecordedContent { .nothing }

    var shared: SharedOptions { own.shared }
}

/// The dialect of a module's AT commands.
struct ModuleDialectArgument: ExpressibleByArgument {
    /// The dialect's name; nil to detect the dialect.
    var name: String?

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        name = argument == "auto" ? nil : argument
    }

    var defaultValueDescription: String { name ?? "auto" }
    static var allValueStrings: [String] { ["auto"] + ModuleSetup.dialects }
}

struct ModuleInfoCommand: ModuleContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the module's kind, name and baud rate.",
        example: "pumpctl --port /dev/ttyUSB0 module info")

    @OptionGroup var own: ModuleOptions

    @Option(help: "The dialect of the AT commands.")
    var dialect = ModuleDialectArgument(argument: "auto")!

    func run(in context: CommandContext) async throws {
        let info = try await context.withModuleSetup(dialect.name) { setup throws(ModuleSetupError) in
            try await setup.info()
        }
        context.output.result(ModuleText.table(of: info), ModuleText.record(of: info))
    }
}

struct ModuleNameCommand: ModuleContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "name", abstract: "Set the module's name, and read it back.",
        discussion: "The module is restarted, so that centrals see the new name.",
        example: "pumpctl --port /dev/ttyUSB0 module name pump1")

    @OptionGroup var own: ModuleOptions

    @Option(help: "The dialect of the AT commands.")
    var dialect = ModuleDialectArgument(argument: "auto")!

    @Argument(help: "The name, in printable ASCII; at most 12 characters for an HM-10, 18 for an MLT-BT05.")
    var name: String

    func run(in context: CommandContext) async throws {
        let info = try await context.withModuleSetup(dialect.name) { [name] setup throws(ModuleSetupError) in
            try await setup.setName(name)
        }
        context.output.outcome("name \(name)", ModuleText.record(of: info))
    }
}

struct ModuleBaudCommand: ModuleContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "baud", abstract: "Set the baud rate of the module's UART, and read it back at that rate.",
        discussion: "A pump needs 9600 baud. The module must be at a serial port.",
        example: "pumpctl --port /dev/ttyUSB0 module baud 9600")

    @OptionGroup var own: ModuleOptions

    @Option(help: "The dialect of the AT commands.")
    var dialect = ModuleDialectArgument(argument: "auto")!

    @Argument(help: ArgumentHelp("The baud rate, such as 9600.", valueName: "rate"))
    var rate: Int

    func run(in context: CommandContext) async throws {
        let info = try await context.withModuleSetup(dialect.name) { [rate] setup throws(ModuleSetupError) in
            try await setup.setBaudRate(rate)
        }
        context.output.outcome("baud \(rate)", ModuleText.record(of: info))
    }
}
