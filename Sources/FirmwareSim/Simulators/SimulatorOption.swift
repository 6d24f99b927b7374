/// An option of a simulated device, described as data, so that a command line, an endpoint or a web page can offer and
/// check it.
///
/// ```swift
/// SimulatorOption("knob", .number(0...1023), default: "512", help: "Where the speed knob stands.")
/// ```
public struct SimulatorOption: Sendable, Hashable {
    /// The accepted values of an option, as typed.
    public enum Value: Sendable, Hashable {
        /// A whole number.
        case number(ClosedRange<Int>)
        /// A number that may have a fraction.
        case decimal(ClosedRange<Double>)
        /// The seed of random events: a number from 0 to `UInt64.max`.
        case seed
        /// A word of this list.
        case choice([String])
        /// `on` or `off`; `true` and `false` are accepted as well.
        case flag
        /// A time above 0, up to 1,000,000 s, written as seconds or as a number with `ms`, `s`, `m` or `h`. If the
        /// associated word is not nil, the word is accepted as well, such as `off`.
        case time(or: String? = nil)
        /// Any text.
        case text
        /// The path of a file.
        case file
        /// Faults, separated by commas: faults of ``Fault/all`` in the form of ``FaultOrder``, and at most one of the
        /// device's own faults. The text `none` stands for no faults.
        ///
        /// - Parameters:
        ///   - own: The names of the device's own faults.
        ///   - anywhere: Whether faults of a line, except `baud` and `unplug`, make sense over BLE too, because a line
        ///     is behind the radio.
        ///   - senseless: The faults that make no sense for the device, with reasons.
        case faults(own: [String] = [], anywhere: Bool = false, senseless: [SenselessFault] = [])
        /// The steps of a scenario, one ``ScenarioStep`` per line.
        case steps
        /// Expectations of the host, in the form of ``HostExpectation``, separated by commas.
        case expectations
    }

    /// The carrier over which a device is reached.
    public enum Carrier: Sendable, Hashable {
        /// A serial line, or a substitute for one: a pseudo-terminal, a socket.
        case line
        /// Bluetooth LE.
        case radio
    }

    /// The name, in lower case, such as `knob`.
    public var name: String
    /// The accepted values.
    public var value: Value
    /// The default value; nil for none. A flag without a default is off.
    public var defaultValue: String?
    /// A sentence that describes the option, for help texts.
    public var help: String
    /// A word for the value in help texts, such as `percent`.
    public var valueName: String
    /// The only carrier on which the option has a meaning; nil for any carrier.
    public var carrier: Carrier?
    /// The names of the options that can't be combined with this option.
    public var excluded: [String]

    /// Creates an option. By default, it has a meaning on any carrier, and can be combined with any other option.
    ///
    /// - Parameters:
    ///   - name: The name of the option.
    ///   - value: The kind and range of the value.
    ///   - defaultValue: The value if the option is not given; nil if there is none.
    ///   - help: The effect in a few words.
    ///   - valueName: The name of the value in a help text; nil for a word that fits the kind of value, such as
    ///     `number`, `time` or `file`, or else the option's own name.
    ///   - carrier: The only carrier over which the option has a meaning; nil for any carrier.
    ///   - excluded: The names of the options that can't be combined with this one.
    public init(
        _ name: String, _ value: Value, default defaultValue: String? = nil, help: String, valueName: String? = nil,
        only carrier: Carrier? = nil, excludes excluded: [String] = []
    ) {
        self.name = name
        self.value = value
        self.defaultValue = defaultValue
        self.help = help
        self.valueName = valueName ?? value.name ?? name
        self.carrier = carrier
        self.excluded = excluded
    }

    /// Returns whether a text is a value of this option.
    public func takes(_ text: String) -> Bool { (try? check(text)) != nil }

    /// Rejects a text that is no value of this option.
    ///
    /// - Throws: ``SimulatorOptionError`` with the accepted values, or with the invalid part.
    func check(_ text: String) throws(SimulatorOptionError) {
        do throws(WrongPart) {
            switch value {
            case .faults(let own, _, _): _ = try FaultOrder.orders(text, beside: own)
            case .steps: _ = try ScenarioStep.steps(text)
            case .expectations: _ = try HostExpectation.expectations(text)
            default: break
            }
        } catch {
            throw SimulatorOptionError(name, .part(error))
        }
        guard isValue(text) else { throw SimulatorOptionError(name, .invalid(takes: value)) }
    }

    /// Returns whether a text is a value of this option, without looking at the parts of a value.
    private func isValue(_ text: String) -> Bool {
        switch value {
        case .number(let range): Int(text).map(range.contains) ?? false
        case .decimal(let range): Double(text).map(range.contains) ?? false
        case .seed: UInt64(text) != nil
        case .choice(let words): words.contains(text)
        case .flag: ["on", "off", "true", "false"].contains(text)
        case .time(let word): text == word || Self.time(text) != nil
        case .text, .file, .faults, .steps, .expectations: true
        }
    }
}

extension SimulatorOption.Value {
    /// A word for a value; nil if it would say no more than the option's name.
    fileprivate var name: String? {
        switch self {
        case .number, .decimal, .seed: "number"
        case .time: "time"
        case .file: "file"
        case .faults: "name"
        case .steps: "step"
        case .expectations: "rule"
        case .choice, .flag, .text: nil
        }
    }
}

extension SimulatorOption.Value: CustomStringConvertible {
    /// The accepted values, in words that follow "takes", such as `a number from 0 to 1023`.
    public var description: String {
        switch self {
        case .number(let range) where range.upperBound == .max: "a number, \(range.lowerBound) or more"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .decimal(let range):
            "a number from \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
        case .seed: "a number from 0 to \(UInt64.max)"
        case .choice(let words): "one of: \(words.joined(separator: ", "))"
        case .flag: "on or off"
        case .time(let word): "a time above 0, up to 1000000 s, as 500ms or 2s" + (word.map { ", or \($0)" } ?? "")
        case .text: "a text"
        case .file: "the path of a file"
        case .steps: "OCCASION VERB [ARGUMENT...], as '10s press' or 'command:3 temperature skin 41'"
        case .expectations:
            "NAME[=AMOUNT], separated by commas, where NAME is one of: "
                + HostRule.all.map(\.name).joined(separator: ", ")
                + "; as baud, pacing=50ms or reaction=5s/OFF@line:ERROR"
        case .faults(let own, _, _):
            "NAME[=AMOUNT][@OCCASION], separated by commas, where NAME is one of: "
                + Self.names(of: own).joined(separator: ", ")
        }
    }
}

extension SimulatorOption.Value {
    /// Returns the names of all faults, the device's own faults first.
    package static func names(of own: [String]) -> [String] { own + Fault.all.map(\.name) }

    /// Formats a number, without a fraction if it is whole.
    private static func short(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

// MARK: - Options of many devices

extension SimulatorOption {
    /// Returns the option for the baud rate of a line, which sets ``SimulatorSettings/lineRate``.
    ///
    /// - Parameters:
    ///   - rate: The default, in bits per second.
    ///   - carrier: nil for a device that also has a line behind its radio.
    public static func baud(_ rate: Int, only carrier: Carrier? = .line) -> SimulatorOption {
        SimulatorOption(
            "baud", .number(1...Int.max), default: "\(rate)", help: "The baud rate that output is paced to.",
            only: carrier)
    }

    /// The flag that removes the limit of a line's speed, which sets ``SimulatorSettings/lineRate`` to unlimited.
    public static let unpaced = SimulatorOption(
        "unpaced", .flag, help: "Do not pace the line to a baud rate: it is as fast as its reader.")

    /// Returns the option for the faults of the device and its carrier; see ``SimulatorSettings/faults(_:)``.
    ///
    /// - Parameters:
    ///   - own: The names of faults that the device itself implements.
    ///   - anywhere: Whether faults of a line, except `baud` and `unplug`, make sense over BLE too, because a line is
    ///     behind the radio.
    ///   - senseless: The faults that make no sense for the device, with reasons.
    public static func faults(
        own: [String] = [], anywhere: Bool = false, senseless: [SenselessFault] = []
    ) -> SimulatorOption {
        SimulatorOption(
            "fault", .faults(own: own, anywhere: anywhere, senseless: senseless),
            help: "Faults, e.g. drop, delay=2s or reset@command:3. \(secondsRule)")
    }

    /// The option for the steps of a scenario; see ``SimulatorSettings/steps()``.
    static let steps = SimulatorOption(
        "step", .steps, help: "An event while the device runs, e.g. '10s press' or 'command:3 reset'.")

    /// The option for the expectations of the host; see ``SimulatorSettings/expectations()``.
    static let expectations = SimulatorOption(
        "expect", .expectations,
        help: "Rules that the host must follow, e.g. baud, one-in-flight, pacing=50ms or reaction=5s/OFF@line:ERROR. "
            + secondsRule)

    /// A sentence that gives the unit of a time without one.
    private static let secondsRule = "A time after '=' without a unit is in seconds."

    /// Returns the option for the name of a device over BLE.
    ///
    /// - Parameter name: The default name.
    public static func radioName(_ name: String) -> SimulatorOption {
        SimulatorOption("name", .text, default: name, help: "The device's name over BLE.", only: .radio)
    }
}
