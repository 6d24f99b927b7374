import ArgumentParser
import DeviceKit

// The options of commands that need no device, or not what most need of one. What they leave out means nothing there, is
// not shown in their help, and is refused: see ``OptionedCommand``.

/// For a command that only prints.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON, one object a line.")
    var json = false

    var shared: SharedOptions { SharedOptions(json: json) }
}

/// For a command that lists what may be of several families.
struct JSONAndFamilyOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "Device family.")
    var family: Family?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    var shared: SharedOptions { SharedOptions(family: family, json: json) }
}

/// For `doctor`.
struct DoctorOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint.", valueName: "endpoint"))
    var port: String?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    var shared: SharedOptions { SharedOptions(port: port, json: json) }
}

/// For `gatt`.
struct GATTOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Device endpoint, as ble:NAME.", valueName: "endpoint"))
    var port: String?

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Option(
        help: ArgumentHelp("How long finding, connecting and each answer may take.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var timeout: SecondsArgument?

    @Flag(name: .shortAndLong, help: "Show on standard error what is sent and received.")
    var verbose = false

    var shared: SharedOptions { SharedOptions(port: port, json: json, timeout: timeout, verbose: verbose) }
}

extension SharedOptions {
    /// Options that were given, without the others.
    init(
        port: String? = nil, family: Family? = nil, json: Bool = false, timeout: SecondsArgument? = nil,
        verbose: Bool = false
    ) {
        self.init()
        self.port = port
        self.family = family
        self.json = json
        self.timeout = timeout
        self.verbose = verbose
        reset = false
        record = nil
    }
}
