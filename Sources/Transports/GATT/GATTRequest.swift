/// A request for the characteristics of a device, as a person types it.
///
/// ```swift
/// let request = try GATTRequest(["ble:Lamp", "write", "FFE1", "0x01ff"])
/// print(request.action, request.characteristics[0].text, request.value)  // write FFE1 [1, 255]
/// ```
public struct GATTRequest: Sendable, Hashable {
    /// The action of a request.
    public enum Action: String, CaseIterable, Sendable, Hashable {
        /// Lists all characteristics.
        case list
        /// Reads values.
        case read
        /// Writes a value.
        case write
        /// Subscribes to characteristics.
        case notify
    }

    /// The endpoint before the action; nil if there is none.
    public let endpoint: String?
    /// The action.
    public let action: Action
    /// The characteristics: none for `list`, one for `write`, at least one for `read` and `notify`.
    public let characteristics: [GATTReference]
    /// The bytes to write; empty for other actions.
    public let value: [UInt8]

    /// Parses `[ENDPOINT] [list | read CHARACTERISTIC… | write CHARACTERISTIC VALUE… | notify CHARACTERISTIC…]`.
    ///
    /// - Parameters:
    ///   - words: The arguments.
    ///   - format: The format of the value. Without a type, the value must be hexadecimal and begin with `0x`.
    /// - Throws: ``GATTSyntaxError``.
    public init(_ words: [String], as format: GATTFormat = GATTFormat()) throws(GATTSyntaxError) {
        var rest = words[...]
        let isDeviceNamed = rest.first.map { Action(rawValue: $0) == nil } ?? false
        endpoint = isDeviceNamed ? rest.removeFirst() : nil
        let word = rest.popFirst() ?? Action.list.rawValue
        guard let action = Action(rawValue: word) else { throw .unknownAction(word) }
        self.action = action
        switch action {
        case .list:
            if let word = rest.first { throw .superfluous(word) }
            (characteristics, value) = ([], [])
        case .read, .notify: (characteristics, value) = (try Self.references(rest, action), [])
        case .write:
            characteristics = try Self.references(rest.prefix(1), action)
            value = try Self.value(Array(rest.dropFirst()), format)
        }
    }

    private static func references(
        _ words: ArraySlice<String>, _ action: Action
    ) throws(GATTSyntaxError) -> [GATTReference] {
        if words.isEmpty { throw .noCharacteristic(action) }
        var references: [GATTReference] = []
        for word in words {
            guard let reference = GATTReference(word) else { throw .badCharacteristic(word) }
            references.append(reference)
        }
        return references
    }

    private static func value(_ words: [String], _ format: GATTFormat) throws(GATTSyntaxError) -> [UInt8] {
        if words.isEmpty { throw .noValue }
        // Without a type, only words that begin with `0x` are unambiguous: `10` could be text, or a number of any size.
        if format.type == nil, let word = words.first(where: { !$0.hasPrefix("0x") }) { throw .untyped(word) }
        let type = format.type ?? .hex
        if type == .text, words.count > 1 { throw .severalTexts }
        var bytes: [UInt8] = []
        for word in words {
            do throws(GATTValueError) { bytes += try type.bytes(of: word, isBigEndian: format.isBigEndian) } catch {
                throw .badValue(error)
            }
        }
        return bytes
    }
}

/// A syntax error in a ``GATTRequest``.
public enum GATTSyntaxError: Error, Sendable, Hashable {
    /// The word is not an action.
    case unknownAction(String)
    /// A word follows `list`, which takes no characteristic.
    case superfluous(String)
    /// The action lacks a characteristic.
    case noCharacteristic(GATTRequest.Action)
    /// The word is not a ``GATTReference``.
    case badCharacteristic(String)
    /// `write` lacks a value.
    case noValue
    /// The word may be text or a number, so that a type is required.
    case untyped(String)
    /// A text value consists of more than one word.
    case severalTexts
    /// A word is not a value of the type.
    case badValue(GATTValueError)
}

extension GATTSyntaxError: CustomStringConvertible {
    public var description: String {
        let rule = "use: 2A19, 180F/2A19 or char0012"
        return switch self {
        case .unknownAction(let word):
            "unknown action '\(word)'; use: "
                + GATTRequest.Action.allCases.map(\.rawValue).joined(separator: ", ")
        case .superfluous(let word): "list takes no characteristic: '\(word)'"
        case .noCharacteristic(let action):
            "\(action.rawValue) needs a characteristic; \(rule)"
        case .badCharacteristic(let word): "'\(word)' is not a characteristic; \(rule)"
        case .noValue: "write needs a value"
        case .untyped(let word): "'\(word)' needs a type: only 0x… is hexadecimal without one"
        case .severalTexts: "text must be one argument: put the text in quotes"
        case .badValue(let error): "\(error)"
        }
    }
}
