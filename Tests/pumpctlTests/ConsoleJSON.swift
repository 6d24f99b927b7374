import Foundation
import Testing

/// One object of `--json`.
struct ConsoleJSON {
    private let values: [String: Any]

    init(_ line: String) throws {
        values = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    var keys: Set<String> { Set(values.keys) }

    /// The value of a key; nil where it is null.
    subscript(_ key: String) -> Any? { values[key].flatMap { $0 is NSNull ? nil : $0 } }
}
