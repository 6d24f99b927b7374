import ArgumentParser
import DeviceKit

// Option groups for commands that use only some of ``SharedOptions``. The other options have no meaning for these
// commands, are not in their help, and are rejected. The property `shared` of each group has the values in the form in
// which ``CommandRunner`` takes them.

/// The option `--json`, alone or as a part of another group.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON, one object per line.")
    var json = false

    var shared: SharedOptions { .leavingOut { $0.json = json } }
}

/// Options of a command that lists items of several families.
struct JSONAndFamilyOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "Device family.")
    var family: Family?

    @OptionGroup var output: JSONOption

    var shared: SharedOptions { .leavingOut { ($0.family, $0.json) = (family, output.json) } }
}

/// Options of `doctor`.
struct DoctorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint.", valueName: "endpoint"))
    var port: String?

    @Flag(help: "Offer the commands that solve problems, and run each after a typed y.")
    var fix = false

    @OptionGroup var output: JSONOption

    var shared: SharedOptions { .leavingOut { ($0.port, $0.json) = (port, output.json) } }
}

/// Options of `module`.
struct ModuleOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port that the module's UART is connected to, e.g. /dev/ttyUSB0.", valueName: "endpoint")
    )
    var port: String?

    @OptionGroup var output: JSONOption

    @Option(
        help: ArgumentHelp(
            "Write the traffic to this new file, for 'pumpctl replay'.", valueName: "file"))
    var capture: String?

    @Flag(name: .shortAndLong, help: "Show the traffic on standard error: > sent, < received.")
    var verbose = false

    var shared: SharedOptions {
        .leavingOut { ($0.port, $0.json, $0.capture, $0.verbose) = (port, output.json, capture, verbose) }
    }
}

/// Options of `sim ctl`.
struct JSONAndTimeoutOptions: ParsableArguments {
    @OptionGroup var output: JSONOption

    @Option(
        help: ArgumentHelp("Time limit for the answer (default: 60).", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var timeout: SecondsArgument?

    var shared: SharedOptions { .leavingOut { ($0.json, $0.timeout) = (output.json, timeout) } }
}

/// Options of `gatt`.
struct GATTOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint: ble:NAME.", valueName: "endpoint"))
    var port: String?

    @OptionGroup var output: JSONOption

    @Option(
        help: ArgumentHelp("Time limit for finding, connecting and each answer.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var timeout: SecondsArgument?

    @Option(
        help: ArgumentHelp("How long to wait for a device that is in use.", valueName: "time"),
        transform: SecondsArgument.typed)
    var wait: SecondsArgument?

    @Flag(name: .shortAndLong, help: "Show the traffic on standard error: > sent, < received.")
    var verbose = false

    var shared: SharedOptions {
        .leavingOut { options in
            (options.port, options.json, options.timeout) = (port, output.json, timeout)
            (options.wait, options.verbose) = (wait, verbose)
        }
    }
}

/// Options of `record`, which opens the device for a program other than pumpctl.
struct SharedPortOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint.", valueName: "endpoint"))
    var port: String?

    @Option(name: .shortAndLong, help: "Device family.")
    var family: Family?

    @Flag(name: .shortAndLong, help: "Show the traffic on standard error: > sent, < received.")
    var verbose = false

    var shared: SharedOptions { .leavingOut { ($0.port, $0.family, $0.verbose) = (port, family, verbose) } }
}

/// The options of `serve` that are also ``SharedOptions``. `pumpctld` parses them, with all others: see
/// ``ServeCommand``.
struct ServeOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint.", valueName: "endpoint"))
    var port: String?

    @Option(name: .shortAndLong, help: "Device family.")
    var family: Family?

    @Flag(inversion: .prefixedNo, help: "Record what is sent and received.")
    var record: Bool?

    @Flag(name: .shortAndLong, help: "Log questions to devices too.")
    var verbose = false

    var shared: SharedOptions {
        .leavingOut { ($0.port, $0.family, $0.record, $0.verbose) = (port, family, record, verbose) }
    }
}

extension SharedOptions {
    /// Creates options with only the values that `set` assigns. Every other option gets a value here, since reading an
    /// option that the parser has not set ends the program.
    fileprivate static func leavingOut(_ set: (inout SharedOptions) -> Void) -> SharedOptions {
        var options = SharedOptions()
        (options.port, options.family, options.timeout, options.record) = (nil, nil, nil, nil)
        (options.wait, options.capture) = (nil, nil)
        (options.json, options.reset, options.verbose) = (false, false, false)
        set(&options)
        return options
    }
}
