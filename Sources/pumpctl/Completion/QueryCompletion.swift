import DeviceKit
import FirmwareSim
import PeripheralSim
import Transports

/// An option behind the question mark of an endpoint, as `baud` in `serial:/dev/ttyUSB0?baud=115200`.
struct QueryOption {
    var name: String
    var help = ""
    /// Whether the option may stand without a value.
    var isFlag = false
    /// Returns the values that may continue a text.
    var values: (Substring) -> [Candidate] = { _ in [] }

    /// Creates an option with values to choose from.
    static func choice(_ name: String, _ words: String...) -> QueryOption {
        QueryOption(name: name) { _ in [Candidate](words: words) }
    }

    /// Creates an option that is on or off, and on without a value.
    static func flag(_ name: String) -> QueryOption {
        QueryOption(name: name, isFlag: true) { _ in [Candidate](words: ["on", "off"]) }
    }
}

extension [QueryOption] {
    /// The options of `serial:` and `usb:` endpoints.
    static var serial: [QueryOption] {
        [
            .choice("baud", "9600", "19200", "38400", "57600", "115200"), .choice("bits", "5", "6", "7", "8"),
            .choice("parity", "none", "odd", "even", "mark", "space"), .choice("stop", "1", "2"),
            .choice("flow", "none", "rtscts", "xonxoff"), .choice("dtr", "on", "off", "untouched"),
            .choice("rts", "on", "off", "untouched"), .flag("hupcl"), .flag("shared"), .flag("lowlatency"),
            .flag("reset"),
        ]
    }

    /// The options of `ble:` endpoints.
    static func ble(_ adapters: @escaping () -> [Candidate]) -> [QueryOption] {
        [
            QueryOption(name: "adapter") { _ in adapters() },
            QueryOption(name: "family") { _ in [Candidate](words: Family.allValueStrings) },
            QueryOption(name: "profile") { _ in [Candidate](words: GATTProfiles.families.all.map(\.name)) },
            // The values of `write` and `hear` are UUIDs of the device, which are not known here.
            .choice("write"), .choice("hear"), .flag("pair"), .flag("shared"),
        ]
    }

    /// The options of a `sim:` endpoint. The simulated device is inside this program, so there are no options of BLE,
    /// and no rules for the host: only the command `sim` checks its host.
    static func simulated(_ simulator: PeripheralSimulator) -> [QueryOption] {
        simulator.line.options.filter { $0.carrier != .radio && $0.value != .expectations }.map { option in
            QueryOption(name: option.name, help: option.help, isFlag: option.value == .flag) {
                option.values(continuing: $0, over: .line)
            }
        } + [QueryOption(name: "scenario", help: "A file of options.") { PathCompletion.candidates($0, .file) }]
    }

    /// Returns the endpoints that continue a typed endpoint by an option or a value.
    ///
    /// - Parameters:
    ///   - typed: The text behind the endpoint's question mark.
    ///   - head: The text up to the question mark.
    func candidates(_ typed: Substring, behind head: String) -> [Candidate] {
        let start = typed.lastIndex(of: "&").map { typed.index(after: $0) } ?? typed.startIndex
        let (head, item) = (head + typed[..<start], typed[start...])
        let given = Set(typed[..<start].split(separator: "&").map { $0.prefix { $0 != "=" } })
        let rest = filter { !given.contains($0.name[...]) }
        let found: [Candidate]
        if let equals = item.firstIndex(of: "=") {
            let value = item[item.index(after: equals)...]
            guard let option = rest.first(where: { $0.name == item[..<equals] }) else { return [] }
            found = option.values(value).map { $0.behind(option.name + "=") }
        } else {
            found = rest.map { Candidate(text: $0.name + ($0.isFlag ? "" : "="), help: $0.help) }
        }
        let fitting = found.filter { $0.text.hasPrefix(item) }
        // Behind the only complete option, offer `&` too: another option may follow.
        let following = fitting.count == 1 && !fitting[0].isOpen && rest.count > 1 ? "&" : nil
        return (fitting + [following.map { Candidate(text: fitting[0].text + $0) }].compactMap(\.self)).map {
            $0.behind(head)
        }
    }
}

extension SimulatorOption {
    /// Returns the values of the option that may continue a text.
    ///
    /// - Parameter carrier: The carrier over which the device is reached, on which the possible faults depend.
    func values(continuing typed: some StringProtocol, over carrier: Carrier) -> [Candidate] {
        switch value {
        case .choice(let words): [Candidate](words: words)
        case .flag: [Candidate](words: ["on", "off"])
        case .time(let word): [Candidate](words: [word].compactMap(\.self))
        case .file: PathCompletion.candidates(typed, .file)
        case .faults(let own, let anywhere, let senseless):
            Self.list(
                typed,
                [Candidate](words: own)
                    + Fault.all.filter { fault in
                        (fault.carrier ?? carrier == carrier || anywhere && fault.carrier == .line)
                            && !senseless.contains {
                                $0.name == fault.name && ($0.carrier == nil || $0.carrier == carrier)
                            }
                    }.map { Candidate(text: $0.name, help: $0.help) })
        case .expectations: Self.list(typed, HostRule.all.map { Candidate(text: $0.name, help: $0.help) })
        case .number, .decimal, .seed, .text, .steps: []
        }
    }

    /// Returns the items that may continue a list separated by commas, or the occasions of its last item.
    private static func list(_ typed: some StringProtocol, _ items: [Candidate]) -> [Candidate] {
        let start = typed.lastIndex(of: ",").map { typed.index(after: $0) } ?? typed.startIndex
        if let mark = typed[start...].lastIndex(of: "@") {
            return [Candidate](words: ["always", "start", "command:", "line:"].map { typed[...mark] + $0 })
        }
        let given = typed[..<start].split(separator: ",").map { $0.prefix { !"=@".contains($0) } }
        return items.filter { item in !given.contains { $0 == item.text } }.map { $0.behind(typed[..<start]) }
    }
}
