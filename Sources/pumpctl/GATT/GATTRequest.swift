public import ArgumentParser
public import Transports

/// What `pumpctl gatt` is asked to do.
struct GATTRequest: Sendable {
    enum Action: String, CaseIterable, Sendable {
        case list, read, write, notify
    }

    /// The endpoint in front of the action; nil where there is none.
    let endpoint: String?
    let action: Action
    let characteristics: [GATTReference]
    /// What is written.
    let value: [UInt8]

    /// Reads `[ENDPOINT] [list | read CHARACTERISTIC… | write CHARACTERISTIC VALUE… | notify CHARACTERISTIC…]`.
    ///
    /// - Parameters:
    ///   - type: What the value is; nil where it says so itself, as `0x01` does.
    ///   - isBigEndian: Whether the highest byte of a number comes first.
    init(_ words: [String], type: GATTValueType?, isBigEndian: Bool) throws(ValidationError) {
        var rest = words[...]
        let isDeviceNamed = rest.first.map { Action(rawValue: $0) == nil } ?? false
        endpoint = isDeviceNamed ? rest.removeFirst() : nil
        let word = rest.popFirst() ?? Action.list.rawValue
        guard let action = Action(rawValue: word) else {
            let all = Action.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(word)' is nothing that can be done: name one of \(all)")
        }
        self.action = action
        switch action {
        case .list:
            guard rest.isEmpty else {
                throw ValidationError("list takes no characteristic: '\(rest[rest.startIndex])'")
            }
            (characteristics, value) = ([], [])
        case .read, .notify:
            guard !rest.isEmpty else { throw Self.missing(action) }
            characteristics = try Self.references(rest)
            value = []
        case .write:
            guard let first = rest.popFirst() else { throw Self.missing(action) }
            characteristics = try Self.references([first])
            value = try Self.value(Array(rest), type, isBigEndian)
        }
    }

    private static func missing(_ action: Action) -> ValidationError {
        let verb = action == .notify ? "listen to" : action.rawValue
        return ValidationError("name a characteristic to \(verb): \(GATTReference.rule)")
    }

    private static func references(_ words: ArraySlice<String>) throws(ValidationError) -> [GATTReference] {
        var references: [GATTReference] = []
        for word in words {
            guard let reference = GATTReference(word) else {
                throw ValidationError("'\(word)' is no characteristic: \(GATTReference.rule)")
            }
            references.append(reference)
        }
        return references
    }

    private static func value(
        _ words: [String], _ type: GATTValueType?, _ isBigEndian: Bool
    ) throws(ValidationError) -> [UInt8] {
        guard !words.isEmpty else { throw ValidationError("give the value to write") }
        // Any other text may be meant as text or as a number: 10 is one byte, or two.
        let isPlainHex = words.allSatisfy { $0.hasPrefix("0x") }
        guard let type = type ?? (isPlainHex ? .hex : nil) else {
            throw ValidationError(
                "say what '\(words[0])' is: --type with one of \(GATTValueType.list); 0x… is hexadecimal without it")
        }
        if type == .text, words.count > 1 { throw ValidationError("text is one argument: write it in quotes") }
        var bytes: [UInt8] = []
        for word in words {
            do { bytes += try type.bytes(of: word, isBigEndian: isBigEndian) } catch {
                throw ValidationError("\(error)")
            }
        }
        return bytes
    }
}

extension GATTValueType: ExpressibleByArgument {
    /// The types, for a person.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")
}

extension GATTReference {
    fileprivate static let rule = "a characteristic is written 2A19, 180F/2A19, or char0012"
}
