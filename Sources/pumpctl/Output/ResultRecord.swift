import DeviceKit

/// What a command has done or read, as programs are told of it: values by their keys.
struct ResultRecord: Encodable {
    private enum Member: Encodable {
        case value(StateValue?)
        case words([String])
        case texts([String: String])

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .value(let value): try value.encode(to: encoder)
            case .words(let words): try words.encode(to: encoder)
            case .texts(let texts): try texts.encode(to: encoder)
            }
        }
    }

    private var members: [String: Member] = [:]

    /// - Parameter ok: What stands as `ok`; nil for nothing.
    init(ok: Bool? = true, _ values: [String: StateValue] = [:]) {
        add("ok", ok.map { .boolean($0) })
        for (key, value) in values { add(key, value) }
    }

    /// Adds a value; nothing where there is none.
    mutating func add(_ key: String, _ value: StateValue?) { if let value { members[key] = .value(value) } }

    /// Adds a value; null where there is none.
    mutating func add(_ key: String, orNull value: StateValue?) { members[key] = .value(value) }

    mutating func add(_ key: String, words: [String]) { members[key] = .words(words) }

    mutating func add(_ key: String, texts: [String: String]) { members[key] = .texts(texts) }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}
