/// Why something was not done to a simulated device.
public enum DeviceVerbError: Error, Sendable, Hashable {
    /// There is no such verb, but these.
    case unknown(String, known: [String])
    /// The verb takes other arguments: these, by their names.
    case argumentCount(of: String, names: [String])
    /// An argument takes another value.
    indirect case argument(SimulatorOptionError)
    /// The device has no such option that can be changed while it runs, but these.
    case unknownOption(String, known: [String])
    /// It could not be done, for that reason; and what to do about it.
    case failed(String, hint: String)
}

extension DeviceVerbError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let verb, _): "the device has no verb '\(verb)'"
        case .argumentCount(let verb, let names) where names.isEmpty: "'\(verb)' takes no argument"
        case .argumentCount(let verb, let names): "'\(verb)' takes \(names.joined(separator: " "))"
        case .argument(let error): "\(error)"
        case .unknownOption(let name, _): "'\(name)' is not an option that can be changed while the device runs"
        case .failed(let reason, _): reason
        }
    }

    /// The word that names nothing, where that is what is wrong.
    public var unknownWord: UnknownWord? {
        switch self {
        case .unknown(let word, let known): UnknownWord(kind: "verb", word: word, known: known)
        case .unknownOption(let word, let known): UnknownWord(kind: "option", word: word, known: known)
        case .argument(let error): error.unknownWord
        case .argumentCount, .failed: nil
        }
    }

    /// What to do about it; nil where the description says that.
    public var hint: String? {
        switch self {
        case .unknown(_, let known), .unknownOption(_, let known): "use one of: \(known.joined(separator: ", "))"
        case .failed(_, let hint): hint
        case .argument(let error): error.hint
        case .argumentCount: nil
        }
    }
}
