internal import Glibc
internal import StrictJSON

/// The user's settings for the programs of this toolkit, `{"port": "/dev/ttyUSB0", "record": false}` in
/// `~/.config/pumpctl/config.json`.
///
/// ```swift
/// let endpoint = try Endpoint(UserConfiguration.load().port ?? "ble:HMSoft")
/// ```
public struct UserConfiguration: Sendable, Hashable {
    /// The keys that the file may have.
    public enum Key: String, Sendable, Hashable, CaseIterable {
        /// The endpoint, as text.
        case port
        /// Whether commands record, as a Boolean.
        case record
    }

    /// The endpoint to use if the user names no other; nil if the file has none.
    public private(set) var port: String?
    /// Whether commands record; nil for the default of each command.
    public private(set) var record: Bool?
    /// The unknown keys of the file, sorted.
    public private(set) var unknownKeys: [String] = []

    /// The path of the file, from `XDG_CONFIG_HOME` or else `HOME`; nil if neither is an absolute path.
    public static var path: String? { path { name in getenv(name).map { String(cString: $0) } } }

    /// Returns the path of the file.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    static func path(_ variable: (_ name: String) -> String?) -> String? {
        func folder(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let configurations = folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" }
        return configurations.map { $0 + "/pumpctl/config.json" }
    }

    /// Reads the file at ``path``. If there is no file, all settings are nil.
    ///
    /// - Throws: `UserConfigurationError` if the file can't be read or is invalid.
    public static func load() throws(UserConfigurationError) -> UserConfiguration {
        guard let path else { return UserConfiguration() }
        // O_NONBLOCK: opening a FIFO must not block a command.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        // A path that can't be looked up counts as "no file", for example because a folder of the path is a file
        // (ENOTDIR).
        if file < 0, errno == ENOENT || access(path, F_OK) != 0 { return UserConfiguration() }
        guard file >= 0 else { throw UserConfigurationError(.unreadable(errno: errno)) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(file, &piece, piece.count)
            guard count >= 0 else { throw UserConfigurationError(.unreadable(errno: errno)) }
            if count == 0 { return try UserConfiguration(json: bytes) }
            bytes += piece.prefix(count)
        }
    }

    private init() {}

    /// Reads the content of a configuration file.
    public init(json bytes: [UInt8]) throws(UserConfigurationError) {
        guard let members = (try? JSONValue(bytes, size: 1 << 20))?.members else {
            throw UserConfigurationError(.notAnObject)
        }
        for member in members {
            let key = Key(rawValue: member.name)
            if key != nil, member.value.isNull { continue }
            switch key {
            case .port:
                guard let text = member.value.text else { throw UserConfigurationError(.wrongType(.port)) }
                port = text
            case .record:
                guard let isSet = member.value.boolean else { throw UserConfigurationError(.wrongType(.record)) }
                record = isSet
            case nil: unknownKeys.append(member.name)
            }
        }
        unknownKeys.sort()
    }
}

/// The reason that an existing configuration file can't be used.
public struct UserConfigurationError: Error, Hashable {
    /// The kinds of flaws.
    public enum Flaw: Sendable, Hashable {
        /// The file can't be read.
        case unreadable(errno: CInt)
        /// The file is not a JSON object, or is larger than 1 MiB.
        case notAnObject
        /// The value of the key has the wrong type.
        case wrongType(UserConfiguration.Key)
    }

    /// The flaw of the file.
    public let flaw: Flaw

    init(_ flaw: Flaw) { self.flaw = flaw }
}
