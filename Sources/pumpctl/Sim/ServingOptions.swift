import ArgumentParser
import DescriptorIO
import FirmwareSim
import LineProtocol
import PeripheralSim
import Transports

/// The options that select the simulated devices, their places, and the process that serves them.
struct ServingOptions: ParsableArguments {
    static let discussion = """
        Prints where the device is, and serves until interrupted. With --background, a process of its own serves, and its ID is \
        printed once the device is ready: kill the process to end. --wait does the same, but prints a JSON object with the \
        port and the control socket: 'pumpctl sim ctl' ends the process. Output of the device while no program has the port \
        open is lost, as on a real line.
        """

    /// The background process of `--background` and `--wait`.
    static let background = BackgroundProgram(mark: "PUMPCTL_IN_BACKGROUND")

    @Flag(name: .customLong("pty"), help: "Offer the device on a pseudo-terminal (the default).")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("A symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Option(
        help: ArgumentHelp(
            "Offer the device on a TCP port of this machine; 0 takes a free port. One client at a time: others are disconnected.",
            valueName: "port"))
    var tcp: UInt16?

    @Flag(
        name: .customLong("broadcast"), help: "With --tcp: accept any number of clients, which all receive all replies."
    )
    var broadcasts = false

    @Flag(name: .customLong("ble"), help: "Offer the device over BLE, so that phones find it.")
    var usesRadio = false

    @Option(help: ArgumentHelp("The Bluetooth adapter, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Option(
        help: ArgumentHelp(
            "The number of devices, each on its own line: '%d' in --link is the device's number, --tcp the port of the first.",
            valueName: "number"))
    var count: Int?

    @Option(
        name: .customLong("with"), parsing: .singleValue,
        help: ArgumentHelp(
            "Another device, written as in an endpoint after 'sim:'; may be repeated.", valueName: "storm?rows=10"))
    var others: [String] = []

    @Option(
        help: ArgumentHelp(
            "A Unix socket at which 'pumpctl sim ctl' controls the device while it runs.", valueName: "path"))
    var control: String?

    @Option(
        help: ArgumentHelp(
            "A TOML file with the device's options, faults and steps, and the rules for the program.",
            valueName: "file"))
    var scenario: String?

    @Flag(
        name: .customLong("background"),
        help: "Return once the device is ready, and print the ID of the process that serves.")
    var isInBackground = false

    @Flag(
        name: .customLong("wait"),
        help: "Return once the device is ready, and print its port, control socket and process ID as JSON.")
    var waits = false

    @Flag(
        name: .customLong("run"),
        help:
            "Serve while the command after '--' runs, with PUMPCTL_PORT set to the device, and end with its exit code."
    )
    var runsCommand = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("With --run: the command, and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp cannot be combined with --pty and --link")
        }
        if broadcasts, tcp == nil { throw ValidationError("--broadcast needs --tcp") }
        if usesRadio, count != nil || !others.isEmpty {
            throw ValidationError("--ble cannot be combined with --count and --with")
        }
        try validateCount()
        if isInBackground, waits { throw ValidationError("--wait cannot be combined with --background") }
        if runsCommand, command.isEmpty { throw ValidationError("--run needs a command, as in --run -- make test") }
        if !runsCommand, !command.isEmpty { throw ValidationError("a command needs --run") }
        if runsCommand, usesRadio || isInBackground || waits {
            throw ValidationError("--run cannot be combined with --ble, --background and --wait")
        }
        if !usesRadio, adapter != nil { throw ValidationError("--adapter needs --ble") }
    }

    private func validateCount() throws {
        if let count {
            guard (1...100_000).contains(count) else {
                throw ValidationError("--count must be from 1 to 100000")
            }
            if let link, !link.contains(Self.numberMark) {
                throw ValidationError("--count needs '%d' in --link, as in --link '/tmp/pump-%d'")
            }
        }
        let number = (count ?? 1) + others.count
        if let tcp, tcp > 0, Int(tcp) + number - 1 > UInt16.max {
            throw ValidationError("--tcp \(tcp) leaves too few ports for \(number) devices; use: --tcp 0")
        }
    }

    /// Rejects a line together with BLE, for a device that can have only one of them.
    func refuseLineBesideRadio() throws {
        if usesRadio, usesPseudoTerminal || link != nil || tcp != nil {
            throw ValidationError("--ble cannot be combined with --pty, --link and --tcp")
        }
    }

    // MARK: The devices

    /// The placeholder for a device's number in the path of `--link`.
    private static let numberMark = "%d"

    /// Returns the numbered devices: first those of `simulator`, then the devices of `--with`.
    ///
    /// - Parameter keepsLine: Whether a device that is offered over BLE also has its line.
    func devices(
        _ simulator: PeripheralSimulator, _ settings: SimulatorSettings, keepsLine: Bool
    ) throws -> [OfferedDevice] {
        if tcp != nil || usesRadio && !keepsLine {
            do throws(SimulatorOptionError) { try settings.checkWithoutTerminal() } catch {
                throw ValidationError(error.words)
            }
        }
        if usesRadio {
            let line = place(0, hasLink: true)
            let place: OfferedDevice.Place =
                keepsLine ? .lineAndRadio(line, adapter: adapter) : .radio(adapter: adapter)
            let settings = keepsLine ? try self.settings(settings, at: line) : settings
            return [OfferedDevice(number: 1, simulator: simulator, settings: settings, place: place)]
        }
        let own = (0..<(count ?? 1)).map { (simulator, settings.numbered($0 + 1)) }
        return try (own + (try others.map(Self.device))).enumerated().map { index, device in
            let place = place(index, hasLink: index < own.count)
            let settings = try self.settings(device.1, at: place)
            return OfferedDevice(number: index + 1, simulator: device.0, settings: settings, place: .line(place))
        }
    }

    /// Returns the settings of a device at a place. Throws if the fault `unplug` is set and programs could not find the
    /// device's port afterwards.
    private func settings(_ settings: SimulatorSettings, at place: ServingPlace) throws -> SimulatorSettings {
        guard isInBackground || waits || runsCommand, place == .terminal() else { return settings }
        if settings.pullsCable {
            throw ValidationError(
                "with --run, --wait and --background, the fault 'unplug' needs --link: "
                    + "the device comes back on another port")
        }
        var settings = settings
        // Also refuse the fault from `sim ctl` later.
        settings.hasWayBack = false
        return settings
    }

    /// Whether output about a device includes its number.
    var tellsNumbers: Bool { count != nil || tellsFamilies }
    /// Whether output about a device includes its family.
    var tellsFamilies: Bool { !others.isEmpty }

    /// Parses a device of `--with`.
    private static func device(_ text: String) throws -> (PeripheralSimulator, SimulatorSettings) {
        do throws(LinkError) { return try SimLink.device(Endpoint("sim:" + text)) } catch {
            let advice = error.hint ?? "name a device, as in --with led"
            throw ValidationError("--with '\(text)': \(advice.replacing("sim:", with: ""))")
        }
    }

    /// Returns the place of a device on a line.
    ///
    /// - Parameters:
    ///   - index: The index of the device, from 0.
    ///   - hasLink: Whether `--link` applies to the device; not to the devices of `--with`.
    private func place(_ index: Int, hasLink: Bool) -> ServingPlace {
        if let tcp {
            let port = tcp == 0 ? 0 : tcp + UInt16(index)
            return .socket(.tcp(host: "127.0.0.1", port: port), broadcasts: broadcasts)
        }
        guard let link, hasLink else { return .terminal() }
        return .terminal(link: count == nil ? link : link.replacing(Self.numberMark, with: "\(index + 1)"))
    }
}
