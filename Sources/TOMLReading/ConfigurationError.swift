/// An error in a configuration.
package struct ConfigurationError: Error, Sendable, Hashable {
    /// The kinds of mistakes.
    package enum Code: Sendable, Hashable {
        /// The file is not valid TOML.
        case syntax
        /// The table or key is unknown.
        case unknownKey
        /// The value has the wrong type.
        case wrongType
        /// The value has the right type, but is not allowed.
        case badValue
        /// A required table or key is missing.
        case missing
        /// Two devices, shares or options exclude each other.
        case conflict
        /// A TCP share can be reached from other machines without permission in the configuration.
        case insecure
    }

    /// The kind of mistake.
    package var code: Code
    /// The place of the mistake: `[device.pump] idle`, `line 3`, or an option such as `--idle`.
    package var place: String
    /// The mistake, in a few words.
    package var problem: String
    /// An instruction for a person who wants to fix the mistake.
    package var hint: String
    /// The line of the file; nil if it is unknown, if `place` contains it, or for an option.
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

/// The place of a configuration's value, for errors that mention it.
package enum ConfigurationPlace: Sendable, Hashable {
    /// In a table of a file, such as `device.pump`.
    case table(String)
    /// On the command line.
    case commandLine

    /// Returns the place of a value as text.
    package func of(_ key: String) -> String {
        switch self {
        case .table(let name): "[\(name)] \(key)"
        case .commandLine: "--\(key)"
        }
    }

    /// Returns a value in the notation of the place.
    package func example(_ key: String, _ value: String) -> String {
        switch self {
        case .table: "\(key) = \"\(value)\""
        case .commandLine: "--\(key) \(value)"
        }
    }

    /// Returns the setting that turns on a flag of the daemon, in the notation of the place. In a file, flags are in
    /// the table `[daemon]`, whichever table this place names.
    package func flag(_ key: String) -> String {
        switch self {
        case .table: "\(key) = true in [daemon]"
        case .commandLine: "--\(key)"
        }
    }
}
