/// What is to be done with the characteristics of a device, as a person types it.
///
/// ```swift
/// let request = try GATTRequest(["ble:Lamp", "write", "FFE1", "0x01ff"])
/// print(request.action, request.characteristics[0].text, request.value)  // write FFE1 [1, 255]
/// ```
public struct GATTRequest: Sendable, Hashable {
    /// What is done.
    public enum Action: String, CaseIterable, Sendable, Hashable {
        /// All characteristics are listed.
        case list
        /// Values are read.
        case read
        /// A value is written.
        case write
        /// Characteristics are followed.
        case notify
    }

    /// The endpoint in front of the action; nil where there is none.
    public let endpoint: String?
    /// What is done.
    public let action: Action
    /// With which: none to list, one to write, or several.
    public let characteristics: [GATTReference]
    /// What is written.
    public let value: [UInt8]

    /// Reads `[ENDPOINT] [list | read CHARACTERISTIC… | write CHARACTERISTIC VALUE… | notify CHARACTERISTIC…]`.
    ///
    /// - Parameter format: What the value is; without a type it must say so itself, as `0x01` does.
    /// - Throws: ``GATTSyntaxError``, which says what is wrong with the words.
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
        guard let first = words.first else { throw .noValue }
        // Any other text may be meant as text or as a number: 10 is one byte, or two.
        let isPlainHex = words.allSatisfy { $0.hasPrefix("0x") }
        guard let type = format.type ?? (isPlainHex ? .hex : nil) else { throw .untyped(first) }
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

/// Words are no ``GATTRequest``.
public enum GATTSyntaxError: Error, Sendable, Hashable {
    /// This is nothing that can be done.
    case unknownAction(String)
    /// This stands behind `list`, which takes no characteristic.
    case superfluous(String)
    /// It is not said what this is done with.
    case noCharacteristic(GATTRequest.Action)
    /// This is no ``GATTReference``.
    case badCharacteristic(String)
    /// It is not said what is written.
    case noValue
    /// This may be text or a number: its type must be named.
    case untyped(String)
    /// Text is one word.
    case severalTexts
    /// A word is none of its type.
    case badValue(GATTValueError)
}

extension GATTSyntaxError: CustomStringConvertible {
    public var description: String {
        let rule = "a characteristic is written 2A19, 180F/2A19, or char0012"
        return switch self {
        case .unknownAction(let word):
            "'\(word)' is nothing that can be done: name one of "
                + GATTRequest.Action.allCases.map(\.rawValue).joined(separator: ", ")
        case .superfluous(let word): "list takes no characteristic: '\(word)'"
        case .noCharacteristic(let action):
            "name a characteristic to \(action == .notify ? "listen to" : action.rawValue): \(rule)"
        case .badCharacteristic(let word): "'\(word)' is not a characteristic: \(rule)"
        case .noValue: "give the value to write"
        case .untyped(let word): "the type of '\(word)' must be named: only 0x… is hexadecimal without one"
        case .severalTexts: "text is one argument: write it in quotes"
        case .badValue(let error): "\(error)"
        }
    }
}
