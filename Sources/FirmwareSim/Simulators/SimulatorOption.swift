/// An option of a simulated device, as data: what a command line, an endpoint or a page needs to offer it and to check it.
///
/// ```swift
/// SimulatorOption("knob", .number(0...1023), default: "512", help: "Where the speed knob stands.")
/// ```
public struct SimulatorOption: Sendable, Hashable {
    /// What an option takes, as it is typed.
    public enum Value: Sendable, Hashable {
        /// A whole number.
        case number(ClosedRange<Int>)
        /// A number that may have a fraction.
        case decimal(ClosedRange<Double>)
        /// What everything random depends on: a number from 0 to `UInt64.max`.
        case seed
        /// One of these words.
        case choice([String])
        /// `on` or `off`; `true` and `false` are taken as well.
        case flag
        /// A time above 0, up to 1,000,000 s: seconds, or a number with `ms`, `s`, `m` or `h`. Or this word.
        case time(or: String? = nil)
        /// Any text.
        case text
        /// The path of a file.
        case file
        /// Faults, parted by commas: those of ``Fault/all`` as ``FaultOrder`` has it, and at most one of these of the device's own. Or `none`.
        ///
        /// - Parameters:
        ///   - anywhere: Whether those of a line make sense over BLE too, as where a line is behind the radio.
        ///   - senseless: Those that make no sense for the device, and why.
        case faults(own: [String] = [], anywhere: Bool = false, senseless: [SenselessFault] = [])
        /// What is done to the device in the course of a scenario, one ``ScenarioStep`` a line.
        case steps
        /// What is expected of the host, as ``HostExpectation`` has it, parted by commas.
        case expectations
    }

    /// What a device is reached over.
    public enum Carrier: Sendable, Hashable {
        /// A serial line, or what stands for one: a pseudo-terminal, a socket.
        case line
        /// BLE.
        case radio
    }

    /// What it is called, in lower case, as `knob`.
    public var name: String
    /// What it takes.
    public var value: Value
    /// The value that it has where it is not given; nil for none. A flag that has none is off.
    public var defaultValue: String?
    /// What it means, as a sentence.
    public var help: String
    /// What its value is, in a word for people, as `percent`.
    public var valueName: String
    /// What it means something over; nil for any carrier.
    public var carrier: Carrier?
    /// The options that it goes without.
    public var excluded: [String]

    /// An option that means something over any carrier, beside any other option, unless told otherwise.
    ///
    /// - Parameter valueName: nil for `number`, `time`, `file`, or the option's own name.
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

    /// Whether a text is a value of this option.
    public func takes(_ text: String) -> Bool { (try? check(text)) != nil }

    /// Refuses a text that is no value of this option.
    ///
    /// - Throws: What the option takes, or which part of several is none.
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

    /// Whether a text is a value of this option, unless that has parts.
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
    /// What a value is, in a word; nil where that says no more than the option's name.
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
    /// What is taken, in words that follow "takes", as `a number from 0 to 1023`.
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
    /// The names of the faults that a device can have, those of its own first.
    package static func names(of own: [String]) -> [String] { own + Fault.all.map(\.name) }

    /// A number without the fraction that it does not have.
    private static func short(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}

// MARK: - Options of many devices

extension SimulatorOption {
    /// The baud rate of a line, which ``SimulatorSettings/lineRate`` follows.
    ///
    /// - Parameter carrier: nil for a device that has a line behind its radio too.
    public static func baud(_ rate: Int, only carrier: Carrier? = .line) -> SimulatorOption {
        SimulatorOption(
            "baud", .number(1...Int.max), default: "\(rate)", help: "The baud rate that output is paced to.",
            only: carrier)
    }

    /// Whether a line has no baud rate, which ``SimulatorSettings/lineRate`` follows.
    public static let unpaced = SimulatorOption(
        "unpaced", .flag, help: "Do not pace the line to a baud rate: it is as fast as its reader.")

    /// What the device and its carrier do wrong, which ``SimulatorSettings/faults(_:)`` reads.
    ///
    /// - Parameters:
    ///   - own: The names of faults that the device itself sees to.
    ///   - anywhere: Whether the faults of a line make sense over BLE too, as where a line is behind the radio.
    ///   - senseless: The faults that make no sense for the device, and why.
    public static func faults(
        own: [String] = [], anywhere: Bool = false, senseless: [SenselessFault] = []
    ) -> SimulatorOption {
        SimulatorOption(
            "fault", .faults(own: own, anywhere: anywhere, senseless: senseless),
            help: "What goes wrong, as drop, delay=2s or reset@command:3. \(secondsRule)")
    }

    /// What is done to the device in the course of a scenario, which ``SimulatorSettings/steps()`` reads.
    static let steps = SimulatorOption(
        "step", .steps, help: "What happens to the device while it runs, as '10s press' or 'command:3 reset'.")

    /// What is expected of the host, which ``SimulatorSettings/expectations()`` reads.
    static let expectations = SimulatorOption(
        "expect", .expectations,
        help: "What the host has to do, as baud, one-in-flight, pacing=50ms or reaction=5s/OFF@line:ERROR. "
            + secondsRule)

    /// What a time is that has no unit, as a sentence.
    private static let secondsRule = "A time after '=' without a unit is in seconds."

    /// What a device is called over BLE.
    public static func radioName(_ name: String) -> SimulatorOption {
        SimulatorOption("name", .text, default: name, help: "What the device is called over BLE.", only: .radio)
    }
}
