import ArgumentParser
import DeviceKit
import Logging
import Sharing
import TOMLReading

/// The options of `pumpctl serve`: a configuration file, or a single device.
struct ServeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Configuration file, in place of the standard one.", valueName: "file"))
    var config: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Serve only the device at this endpoint.", valueName: "endpoint"))
    var port: String?

    @Option(
        name: .shortAndLong,
        help: "Device family: \(SharedFamily.all.map(\.family.name).joined(separator: ", ")). (default: pump)")
    var family: String?

    @Option(help: "Name of the device. (default: its family)")
    var name: String?

    @Option(help: ArgumentHelp("Offer the device as a serial port: a link to a pseudo-terminal.", valueName: "path"))
    var pty: [String] = []

    @Option(help: ArgumentHelp("Offer the device on a TCP port of loopback, or at host:port.", valueName: "port"))
    var tcp: [String] = []

    @Option(help: ArgumentHelp("Offer the device on a Unix socket.", valueName: "path"))
    var unix: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Record what is sent and received, for 'pumpctl history'. (default: --no-record)")
    var record: Bool?

    @Option(help: ArgumentHelp("Time to keep a BLE link open after the last client. (default: 60s)", valueName: "time"))
    var idle: String?

    @Option(help: ArgumentHelp("Socket for programs that ask for devices by name.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Offer the devices to browsers too, at a port of loopback or unix:PATH.", valueName: "address"))
    var http: String?

    @Flag(help: "Allow a TCP share that other machines can reach, without a password.")
    var insecureListen = false

    @Flag(name: .shortAndLong, help: "Log queries to devices too.")
    var verbose = false
}

extension ServeOptions {
    /// Whether an option is given that makes sense only with ``port``: it describes the device, or is a setting of the
    /// daemon that the file gives otherwise.
    private var describesDevice: Bool {
        family != nil || name != nil || record != nil || idle != nil || socket != nil || insecureListen
            || !(pty + tcp + unix).isEmpty
    }

    /// Returns the configuration: the device at ``port``, or else the file of ``config``, or else the standard file.
    func configuration() throws(DaemonFailure) -> DaemonConfiguration {
        var given: DaemonConfiguration?
        do throws(ConfigurationError) { given = try deviceAlone() } catch { throw DaemonFailure(error) }
        var configuration: DaemonConfiguration
        if let given {
            configuration = given
        } else if let config {
            configuration = try ConfigurationFile(path: config).read()
        } else {
            configuration = try ConfigurationFile.standard().read()
        }
        do throws(ConfigurationError) {
            try addPage(to: &configuration, at: given == nil ? .table("daemon") : .commandLine)
        } catch {
            throw DaemonFailure(error)
        }
        if verbose { configuration.daemon.logLevel = min(configuration.daemon.logLevel, .debug) }
        return configuration
    }

    /// Replaces the address of the page, if the option is given. The page keeps the other settings of the file.
    ///
    /// - Parameter place: The place of the daemon's settings, which an error names.
    private func addPage(
        to configuration: inout DaemonConfiguration, at place: ConfigurationPlace
    ) throws(ConfigurationError) {
        guard let http else { return }
        let former = configuration.http
        configuration.http = try HTTPSettings(
            http, hosts: former?.hosts ?? [], captures: former?.captures, at: .commandLine)
        try configuration.check(at: place, http: .commandLine)
    }

    /// Rejects conflicting options, and options of a device without ``port``.
    private func check() throws(ConfigurationError) {
        if port != nil, config != nil {
            throw ConfigurationError(
                .conflict, "--config", "cannot be combined with --port",
                hint: "add the device to the file, or omit --config")
        }
        if port == nil, describesDevice {
            throw ConfigurationError(
                .missing, "--port", "missing", hint: "name the device too, e.g. --port usb:1a86:7523")
        }
    }

    /// Returns a configuration of only the device at ``port``; nil if ``port`` is not given.
    private func deviceAlone() throws(ConfigurationError) -> DaemonConfiguration? {
        try check()
        guard port != nil else { return nil }
        var entry = DeviceEntry(name: name)
        (entry.endpoint, entry.family, entry.idle) = (port, family, idle)
        (entry.terminals, entry.tcp, entry.unix) = (pty, tcp, unix)
        entry.isRecorded = record ?? false
        let place = ConfigurationPlace.commandLine
        var configuration = DaemonConfiguration(devices: [try entry.settings(at: place)])
        if let socket { try ShareAddress.checkPath(socket, "socket", at: place) }
        configuration.daemon.socket = socket
        configuration.daemon.allowsInsecureListening = insecureListen
        try configuration.check(at: place, http: place)
        return configuration
    }
}
