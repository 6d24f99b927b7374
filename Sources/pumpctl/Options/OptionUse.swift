import ArgumentParser
import DeviceKit

/// One of the options that may stand before any command's name.
enum SharedOption: String, CaseIterable {
    case port, family, json, timeout, wait, reset, record, capture, verbose

    /// How it is written.
    var spellings: [Substring] {
        switch self {
        case .port: ["--port", "-p"]
        case .family: ["--family", "-f"]
        case .verbose: ["--verbose", "-v"]
        case .record: ["--record", "--no-record"]
        case .json, .timeout, .wait, .reset, .capture: ["--\(rawValue)"]
        }
    }

    /// The spellings of those that a value follows.
    static let valued = [SharedOption.port, .family, .timeout, .wait, .capture].flatMap(\.spellings)
    /// The spellings of those that none follows.
    static let flags = [SharedOption.json, .reset, .record, .verbose].flatMap(\.spellings)
}

extension SharedOption {
    /// Refuses arguments that are not UTF-8: a string can't hold their bytes, and a file of another name would be meant.
    static func checkEncoding(of arguments: [String]) throws(Failure) {
        guard let argument = arguments.first(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else { return }
        throw Failure(
            .usage, code: "usage", "'\(argument)' is not UTF-8", hint: "name it by a link whose name is UTF-8: ln -s",
            outcome: "not_sent")
    }

    /// Refuses two endpoints that differ, wherever they stand: which is meant can't be told, and OFF at the wrong one leaves a
    /// pump running.
    static func checkPorts(in arguments: [String]) throws(Failure) {
        var (ports, words): ([String], ArraySlice) = ([], arguments.prefix { $0 != "--" })
        while let word = words.popFirst() {
            let option = word.prefix { $0 != "=" }
            guard port.spellings.contains(option) else { continue }
            ports.append(option == word ? words.popFirst() ?? "" : String(word.dropFirst(option.count + 1)))
            guard ports[0] != ports[ports.count - 1] else { continue }
            throw Failure(
                .usage, code: "usage", "--port is given twice: \(ports[0]) and \(ports[ports.count - 1])",
                hint: "omit one of them", outcome: "not_sent")
        }
    }
}

/// A command, and which of the options of every command mean something for it.
///
/// The parser takes all of them before a command's name: what means nothing for the command is refused here, rather than
/// ignored.
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

    /// Refuses options that mean nothing for this command, wherever they stand.
    ///
    /// - Parameters:
    ///   - arguments: All of the command line.
    ///   - name: The command's name with those of its groups, as `rescue list`.
    static func checkOptions(in arguments: [String], _ name: String) throws(Failure) {
        for word in arguments.prefix(while: { $0 != "--" }) {
            let word = word.prefix { $0 != "=" }
            guard let option = SharedOption.allCases.first(where: { $0.spellings.contains(word) }),
                !takenOptions.contains(option)
            else { continue }
            throw Failure(
                .usage, code: "usage",
                "\(word.hasPrefix("--") ? word : "--\(option)") cannot be used with 'pumpctl \(name)'",
                hint: "omit it; see pumpctl \(name) --help")
        }
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
extension RecordCommand: OptionedCommand {
    static var takenOptions: Set<SharedOption> { [.port, .family, .verbose] }
}
extension ServeCommand: OptionedCommand {
    static var takenOptions: Set<SharedOption> { [.port, .family, .record, .verbose] }
}
extension GATTCommand: OptionedCommand {
    static var takenOptions: Set<SharedOption> { [.port, .json, .timeout, .wait, .verbose] }
}

// No device, or none to talk to
extension MessageListCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension MessageExportCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension HistoryCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .family] } }
extension PeerHostCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension PortsCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension ScanCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .family] } }
extension ForgetCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension ReplayCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json] } }
extension DoctorCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .port] } }
extension SimControlCommand: OptionedCommand { static var takenOptions: Set<SharedOption> { [.json, .timeout] } }
