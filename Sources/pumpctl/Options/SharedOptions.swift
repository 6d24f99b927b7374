import ArgumentParser
import DeviceKit

/// The options of every command, before or after its name.
struct SharedOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Device endpoint, e.g. /dev/ttyUSB0 or ble:HMSoft.", valueName: "endpoint"))
    var port: String?

    @Option(name: .shortAndLong, help: "Device family.")
    var family: Family?

    @Flag(help: "Print JSON, one object per line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for an answer; over BLE also for finding and connecting.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var timeout: SecondsArgument?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a device that another program has; for a short pumpctl command, as long as --timeout.",
            valueName: "time"),
        transform: SecondsArgument.typed)
    var wait: SecondsArgument?

    @Flag(help: "Reset the board first, by its DTR line. The pump stops.")
    var reset = false

    @Flag(
        inversion: .prefixedNo,
        help: "Record what the device says, for 'pumpctl history'; monitor and storm log live do so automatically.")
    var record: Bool?

    @Option(
        help: ArgumentHelp(
            "Write everything that is sent and received to this new file, for 'pumpctl replay'.", valueName: "file"))
    var capture: String?

    @Flag(name: .shortAndLong, help: "Show on standard error what is sent (>) and received (<).")
    var verbose = false

    /// Whether no option was given except perhaps `--json`.
    var isBare: Bool {
        port == nil && family == nil && timeout == nil && wait == nil && !reset && record == nil && capture == nil
            && !verbose
    }

    /// The endpoint from `--port` or the user's settings; nil if there is none.
    var namedPort: String? { try? PortChoice.named(port) }

    /// The family from `--family` or the endpoint; nil if neither determines it.
    var toldFamily: Family? { family ?? namedPort.flatMap { Family.named(by: $0) ?? Family.handedOver(at: $0) } }

    /// The family that a command for any device assumes; a pump by default.
    var deviceFamily: Family { toldFamily ?? .usual }
}
