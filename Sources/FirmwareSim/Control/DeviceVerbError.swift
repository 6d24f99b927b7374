/// A reason why a simulated device did not perform a verb.
public enum DeviceVerbError: Error, Sendable, Hashable {
    /// The device has no such verb. `known` lists the verbs that it has.
    case unknown(String, known: [String])
    /// The number of arguments is wrong. `names` lists the expected arguments.
    case argumentCount(of: String, names: [String])
    /// An argument has an invalid value.
    indirect case argument(SimulatorOptionError)
    /// The device has no option of that name that can change while the device runs. `known` lists the options that can.
    case unknownOption(String, known: [String])
    /// The action failed. The first value is the reason; `hint` is a suggested remedy.
    case failed(String, hint: String)
}

extension DeviceVerbError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let verb, _): "the device has no verb '\(verb)'"
        case .argumentCount(let verb, let names) where names.isEmpty: "'\(verb)' takes no argument"
        case .argumentCount(let verb, let names): "'\(verb)' takes \(names.joined(separator: " "))"
        case .argument(let error): "\(error)"
        case .unknownOption(let name, _): "'\(name)' can't be changed while the device runs"
        case .failed(let reason, _): reason
        }
    }

    /// The unknown verb, option, fault or rule that caused the error; nil for any other cause.
    public var unknownWord: UnknownWord? {
        switch self {
        case .unknown(let word, let known): UnknownWord(kind: "verb", word: word, known: known)
        case .unknownOption(let word, let known): UnknownWord(kind: "option", word: word, known: known)
        case .argument(let error): error.unknownWord
        case .argumentCount, .failed: nil
        }
    }

    /// A suggested remedy; nil if the description already says what to do.
    public var hint: String? {
        switch self {
        case .unknown(_, let known), .unknownOption(_, let known): "use one of: \(known.joined(separator: ", "))"
        case .failed(_, let hint): hint
        case .argument(let error): error.hint
        case .argumentCount: nil
        }
    }
}
