/// Why a configuration is refused.
package struct ConfigurationError: Error, Sendable, Hashable {
    /// The kinds of mistakes.
    package enum Code: Sendable, Hashable {
        /// The file is no TOML.
        case syntax
        /// There is no such table or key.
        case unknownKey
        /// The value is of another type than the key takes.
        case wrongType
        /// The value is of the right type, and none that the key takes.
        case badValue
        /// Something that is needed is not given.
        case missing
        /// Two devices, or two shares, are at one address.
        case conflict
        /// A TCP share can be reached from other machines, which was not allowed.
        case insecure
    }

    /// The kind of mistake.
    package var code: Code
    /// Where it is: `[device.pump] idle`, `line 3`, or an option as `--idle`.
    package var place: String
    /// What is wrong there.
    package var problem: String
    /// One thing that a person can do about it.
    package var hint: String
    /// The line of the file, where the place does not name it.
    package var line: Int?

    package init(_ code: Code, _ place: String, _ problem: String, hint: String, line: Int? = nil) {
        self.code = code
        self.place = place
        self.problem = problem
        self.hint = hint
        self.line = line
    }
}

extension ConfigurationError: CustomStringConvertible {
    package var description: String { "\(place): \(problem)" }
}

/// Where a value of a configuration stands, for errors that name it.
package enum ConfigurationPlace: Sendable, Hashable {
    /// In a table of a file, as `device.pump`.
    case table(String)
    /// On the command line.
    case commandLine

    /// The place of one value.
    package func of(_ key: String) -> String {
        switch self {
        case .table(let name): "[\(name)] \(key)"
        case .commandLine: "--\(key)"
        }
    }

    /// A value as it is written there.
    package func example(_ key: String, _ value: String) -> String {
        switch self {
        case .table: "\(key) = \"\(value)\""
        case .commandLine: "--\(key) \(value)"
        }
    }

    /// A yes as it is written there.
    package func flag(_ key: String) -> String {
        switch self {
        case .table: "\(key) = true in [daemon]"
        case .commandLine: "--\(key)"
        }
    }
}
