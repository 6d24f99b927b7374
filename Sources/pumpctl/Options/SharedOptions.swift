import ArgumentParser
import DeviceKit

/// The options of most commands. They may precede or follow the command's name.
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
            "How long to wait for a device that is in use; for a short pumpctl command to end, at least --timeout.",
            valueName: "time"),
        transform: SecondsArgument.typed)
    var wait: SecondsArgument?

    @Flag(help: "Reset the board first, with the DTR line. The pump stops.")
    var reset = false

    @Flag(
        inversion: .prefixedNo,
        help: "Record the device's output, for 'pumpctl history'; monitor and storm log live do so by default.")
    var record: Bool?

    @Option(
        help: ArgumentHelp(
            "Write the traffic to this new file, for 'pumpctl replay'.", valueName: "file"))
    var capture: String?

    @Flag(name: .shortAndLong, help: "Show the traffic on standard error: > sent, < received.")
    var verbose = false

    /// Whether no option was given except perhaps `--json`.
    var isBare: Bool {
        port == nil && family == nil && timeout == nil && wait == nil && !reset && record == nil && capture == nil
            && !verbose
    }

    /// The endpoint from `--port`, PUMPCTL_PORT or the configuration; nil if none of them names one, or if the
    /// configuration is needed and can't be read. The only USB port, which is the default, is not looked for.
    var namedPort: String? { try? PortChoice.named(port) }

    /// The family from `--family`; or else that of the named endpoint, if the endpoint is a simulated device, a
    /// capture, or a device that a simulator has passed to this program; nil for any other endpoint.
    var toldFamily: Family? { family ?? namedPort.flatMap { Family.named(by: $0) ?? Family.handedOver(at: $0) } }

    /// The family of the device for a command that is not bound to one family: ``toldFamily``, or else a pump.
    var deviceFamily: Family { toldFamily ?? .usual }
}
