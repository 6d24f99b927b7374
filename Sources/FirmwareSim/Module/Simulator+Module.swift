internal import ModuleDialects

extension SimulatorOption {
    /// Returns the option that selects the dialect of a module's AT commands.
    ///
    /// - Parameter name: The default dialect; nil for no default.
    package static func dialect(default name: String? = nil, only carrier: Carrier? = nil) -> SimulatorOption {
        SimulatorOption(
            "dialect", .choice(ModuleDialect.all.map(\.name)), default: name,
            help: "The dialect of the AT commands.", only: carrier)
    }

    /// Returns the flag that makes a module report connecting and leaving centrals at its UART.
    package static func notices(only carrier: Carrier? = nil) -> SimulatorOption {
        SimulatorOption(
            "notices", .flag, help: "The module reports at its UART when a central connects or leaves.", only: carrier)
    }
}

extension Simulator {
    /// A BLE module whose UART is on the line. It belongs to no family, because it passes any bytes through.
    public static let module = Simulator(
        "module",
        options: [
            .dialect(default: ModuleDialect.hm10.name),
            SimulatorOption("name", .text, help: "The name of the module; by default the maker's name."),
            .notices(), .baud(9600, only: nil), .unpaced,
            // Faults of a line make sense over BLE as well: the module's UART is a line.
            .faults(anywhere: true, senseless: [SenselessFault("stuck", "a BLE module has no error state")]),
        ],
        make: SimulatedModule.init(settings:))
}

extension SimulatedModule {
    /// Creates a module with the options of ``Simulator/module``.
    package init(settings: SimulatorSettings) throws {
        let dialect = settings.text("dialect") ?? ModuleDialect.hm10.name
        guard
            let module = SimulatedModule(
                dialect: dialect, name: settings.text("name"), lineRate: settings.lineRate,
                notifiesUART: settings.flag("notices"))
        else { throw SimulatorOptionError("dialect", .invalid(takes: .choice(ModuleDialect.all.map(\.name)))) }
        self = module
    }
}
