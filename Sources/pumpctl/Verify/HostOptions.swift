import ArgumentParser

/// The options of a verification in which pumpctl plays the device.
struct HostOptions: ParsableArguments {
    @Flag(name: .customLong("as-device"), help: "Play the device, and test the program or app that uses it.")
    var playsDevice = false

    @Option(help: ArgumentHelp("With --as-device: a symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Flag(name: .customLong("ble"), help: "With --as-device: offer the device over BLE, for a phone's app.")
    var usesRadio = false

    @Option(
        help: ArgumentHelp("With --ble: the Bluetooth adapter, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Flag(
        name: .customLong("run"),
        help:
            "With --as-device: test the command after '--' once with each device; PUMPCTL_PORT is the device's endpoint."
    )
    var runsCommand = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("With --run: the command, and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        let option = [
            link.map { _ in "--link" }, usesRadio ? "--ble" : nil, adapter.map { _ in "--adapter" },
            runsCommand ? "--run" : nil,
        ].compactMap(\.self).first
        if let option, !playsDevice { throw ValidationError("\(option) needs --as-device") }
        if usesRadio, link != nil { throw ValidationError("--ble cannot be combined with --link") }
        if usesRadio, runsCommand { throw ValidationError("--run cannot be combined with --ble") }
        if adapter != nil, !usesRadio { throw ValidationError("--adapter needs --ble") }
        if runsCommand, command.isEmpty { throw ValidationError("--run needs a command, as in --run -- make test") }
        if !runsCommand, !command.isEmpty { throw ValidationError("a command needs --run") }
    }
}
