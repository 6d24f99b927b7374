import ArgumentParser

/// One of the options that may stand before any command's name.
enum SharedOption: String, CaseIterable {
    case port, family, json, timeout, reset, record, verbose
}

extension SharedOptions {
    /// Those that were given on the command line.
    var given: Set<SharedOption> {
        var given: Set<SharedOption> = []
        if port != nil { given.insert(.port) }
        if family != nil { given.insert(.family) }
        if json { given.insert(.json) }
        if timeout != nil { given.insert(.timeout) }
        if reset { given.insert(.reset) }
        if record != nil { given.insert(.record) }
        if verbose { given.insert(.verbose) }
        return given
    }
}

/// A command, and which of the options of every command mean something for it.
///
/// The parser takes all of them with each command, since they may stand before its name: what means nothing for a command
/// is refused here, rather than ignored.
protocol OptionedCommand: ParsableCommand {
    /// The options that mean something for the command.
    static var takenOptions: Set<SharedOption> { get }

    var parent: PumpctlCommand { get }
    /// The options that stood behind its name.
    var shared: SharedOptions { get }
}

extension OptionedCommand {
    /// All of them, for a command that talks to a device.
    static var takenOptions: Set<SharedOption> { Set(SharedOption.allCases) }

    /// Refuses options that mean nothing for this command.
    ///
    /// - Parameter name: The command's name with those of its groups, as `message list`.
    func checkOptions(_ name: String) throws(Failure) {
        let given = shared.merged(with: parent.shared).given
        guard let idle = SharedOption.allCases.first(where: { given.contains($0) && !Self.takenOptions.contains($0) })
        else { return }
        let word = idle == .record && shared.merged(with: parent.shared).record == false ? "no-record" : idle.rawValue
        throw Failure(
            .usage, code: "usage", "--\(word) means nothing for 'pumpctl \(name)'",
            hint: "omit it; see pumpctl \(name) --help")
    }
}

// MARK: - What each command takes

// A pump
extension OnCommand: OptionedCommand {}
extension OffCommand: OptionedCommand {}
extension SpeedCommand: OptionedCommand {}
extension StatusCommand: OptionedCommand {}
extension TempCommand: OptionedCommand {}
extension MonitorCommand: OptionedCommand {}

// Other families
extension LogGetCommand: OptionedCommand {}
extension LogLiveCommand: OptionedCommand {}
extension LEDGetCommand: OptionedCommand { var shared: SharedOptions { options.shared } }
extension LEDOnCommand: OptionedCommand { var shared: SharedOptions { options.shared } }
extension LEDOffCommand: OptionedCommand { var shared: SharedOptions { options.shared } }
extension LEDToggleCommand: OptionedCommand { var shared: SharedOptions { options.shared } }
extension SayCommand: OptionedCommand {}
extension ToggleCommand: OptionedCommand {}
extension ImageGetCommand: OptionedCommand {}
extension PeerListenCommand: OptionedCommand {}
extension MessageSendCommand: OptionedCommand {}
extension MessageSyncCommand: OptionedCommand {}
extension MessageListenCommand: OptionedCommand {}

// Any device
extension ConsoleCommand: OptionedCommand {}
extension SendCommand: OptionedCommand {}
extension GATTCommand: OptionedCommand {
    static var takenOptions: Set<SharedOption> { [.port, .json, .timeout, .verbose] }
}

// No device, or none to talk to
extension MessageListCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension MessageExportCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension HistoryCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .family] } }
extension PeerHostCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension PortsCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension ScanCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .family] } }
extension ForgetCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension DoctorCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .port] } }
extension SimPumpCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension SimStormCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension SimLEDCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension SimPeerCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension SimRescueCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
