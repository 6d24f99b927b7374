import FoundationEssentials
import Glibc
import LineProtocol

/// The user's configuration, `$XDG_CONFIG_HOME/pumpctl/config.json`: `{"port": "/dev/ttyUSB0", "record": false}`.
struct Configuration {
    /// The keys that it may have.
    private enum Key: String, CaseIterable { case port, record }

    /// The endpoint to use where none is named.
    var port: String?
    /// Whether the commands record that do so unless told otherwise; nil for yes.
    var record: Bool?
    /// What is wrong with it without being in the way.
    private(set) var warnings: [String] = []

    /// Reads the configuration; an empty one where there is none.
    ///
    /// - Throws: `Failure` where the file can't be read, or is no configuration.
    static func load() throws(Failure) -> Configuration {
        guard let path else { return Configuration() }
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch {
            // A folder above it that is none is as good as a file that is not there.
            guard access(path, F_OK) == 0 else { return Configuration() }
            throw Failure(file: path, errno: access(path, R_OK) == 0 ? EIO : errno)
        }
        return try Configuration(data, path)
    }

    private init() {}

    /// - Parameter path: Where it is, for what is said of it.
    init(_ data: Data, _ path: String) throws(Failure) {
        let entries: Entries
        do { entries = try JSONDecoder().decode(Entries.self, from: data) } catch {
            throw Failure(configuration: path, Self.flaw(error))
        }
        (port, record) = (entries.port, entries.record)
        warnings = entries.unknown.sorted().map { Self.warning(of: $0, in: path) }
    }

    private static func flaw(_ error: any Error) -> String {
        guard case .typeMismatch(_, let context) = error as? DecodingError,
            let key = context.codingPath.first.flatMap({ Key(rawValue: $0.stringValue) })
        else { return "this is no JSON object" }
        return switch key {
        case .port: "\"port\" is no text"
        case .record: "\"record\" is neither true nor false"
        }
    }

    /// What the file holds.
    private struct Entries: Decodable {
        var port: String?
        var record: Bool?
        var unknown: [String] = []

        private struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in container.allKeys {
                switch Key(rawValue: name.stringValue) {
                case .port: port = try container.decodeIfPresent(String.self, forKey: name)
                case .record: record = try container.decodeIfPresent(Bool.self, forKey: name)
                case nil: unknown.append(name.stringValue)
                }
            }
        }
    }

    private static func warning(of name: String, in path: String) -> String {
        let known = Key.allCases.map(\.rawValue)
        let nearest = Spelling.nearest(to: name, among: known).map { "\"\($0)\"" }
        let hint = nearest.map { "write \($0) instead" } ?? "remove it: the keys are \(known.joined(separator: ", "))"
        return "warning: \(path): there is no key \"\(name.printable())\"\n  hint: \(hint)"
    }

    private static var path: String? {
        if let home = getenv("XDG_CONFIG_HOME"), home.pointee != 0 {
            return String(cString: home) + "/pumpctl/config.json"
        }
        return getenv("HOME").map { String(cString: $0) + "/.config/pumpctl/config.json" }
    }
}

extension Failure {
    fileprivate init(configuration path: String, _ flaw: String) {
        self.init(
            .usage, code: "bad_configuration", "\(path): \(flaw)",
            hint: "write JSON, as {\"port\": \"/dev/ttyUSB0\", \"record\": false}")
    }
}
