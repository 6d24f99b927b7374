import ArgumentParser
import FirmwareSim
import PeripheralSim

/// One part of the options of a simulated device, as the ``Simulation/row`` of the device declares them. The parser
/// finds the options of an instance in the instance's mirror, and has the instance decode the parsed values. In an
/// ordinary type the mirror and the decoding follow the properties; here both follow the declared options.
struct SimulatorArguments<Simulated: Simulation, Part: SimulatorPart>: ParsableArguments, CustomReflectable {
    /// The given values, by the names of the options.
    private(set) var given: [String: String] = [:]

    private static var options: [SimulatorOption] { Simulated.row.line.options.filter(Part.contains) }

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        for option in Self.options {
            let key = Key(stringValue: option.name)
            given[option.name] =
                if option.value == .flag {
                    try values.decode(Flag<Bool>.self, forKey: key).wrappedValue ? "on" : nil
                } else if let separator = option.value.separator {
                    // A repeated option has several values.
                    try values.decode(Option<[String]>.self, forKey: key).wrappedValue.joined(by: separator)
                } else {
                    try values.decode(Option<String?>.self, forKey: key).wrappedValue
                }
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.options.map { (label: $0.name, value: $0.argument) })
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A part of the options of simulated devices, which the help shows under a title of its own.
protocol SimulatorPart {
    static func contains(_ option: SimulatorOption) -> Bool
}

/// The options of the device itself.
enum DevicePart: SimulatorPart {
    static func contains(_ option: SimulatorOption) -> Bool {
        !FaultPart.contains(option) && !ProgramPart.contains(option)
    }
}

/// The faults of the device and of its carrier.
enum FaultPart: SimulatorPart {
    static func contains(_ option: SimulatorOption) -> Bool {
        if case .faults = option.value { true } else { false }
    }
}

/// The steps that happen to the device, and the rules for the program that uses it.
enum ProgramPart: SimulatorPart {
    static func contains(_ option: SimulatorOption) -> Bool { option.value == .steps || option.value == .expectations }
}

extension SimulatorOption {
    /// The property that the parser looks for, with the values and the default in the help as for other properties.
    fileprivate var argument: Any {
        let name = NameSpecification.customLong(name)
        if value == .flag { return Flag(wrappedValue: false, name: name, help: ArgumentHelp(help)) }
        var remarks: [String] = []
        if case .choice(let words) = value { remarks.append("values: \(words.joined(separator: ", "))") }
        if case .faults(let own, _, _) = value {
            remarks.append("faults: \(SimulatorOption.Value.names(of: own).joined(separator: ", "))")
        }
        if let defaultValue { remarks.append("default: \(defaultValue)") }
        let text = help + (remarks.isEmpty ? "" : " (\(remarks.joined(separator: "; ")))")
        if value.separator != nil {
            return Option<[String]>(
                wrappedValue: [], name: name, parsing: .singleValue, help: ArgumentHelp(text, valueName: valueName))
        }
        let completion: CompletionKind? =
            if case .choice(let words) = value { .list(words) } else { value == .file ? .file() : nil }
        return Option<String?>(name: name, help: ArgumentHelp(text, valueName: valueName), completion: completion)
    }
}

extension [String] {
    /// Returns the elements joined to one text; nil if there are none.
    fileprivate func joined(by separator: String) -> String? { isEmpty ? nil : joined(separator: separator) }
}
