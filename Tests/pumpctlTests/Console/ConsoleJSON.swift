import Foundation
import Testing

/// An object of the output of a program with `--json`.
struct ConsoleJSON {
    private let values: [String: Any]

    /// The line is not a JSON object.
    struct NoObject: Error, CustomStringConvertible {
        var line: String
        var description: String { "no JSON object: \(line.debugDescription)" }
    }

    init(_ line: String) throws {
        guard let values = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            throw NoObject(line: line)
        }
        self.values = values
    }

    var keys: Set<String> { Set(values.keys) }

    /// The value of a key; nil if it is null or missing.
    subscript(_ key: String) -> Any? { values[key].flatMap { $0 is NSNull ? nil : $0 } }
}
