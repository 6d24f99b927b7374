import DeviceKit
import LineProtocol

/// The user's configuration, and what a person is told of it.
enum Configuration {
    /// - Throws: `Failure` where the file can't be read, or is no configuration.
    static func load() throws(Failure) -> UserConfiguration {
        do throws(UserConfigurationError) { return try UserConfiguration.load() } catch {
            throw Failure(error, UserConfiguration.path ?? "")
        }
    }
}

extension UserConfiguration {
    /// What is wrong with it without being in the way.
    var warnings: [String] {
        let known = Key.allCases.map(\.rawValue)
        return unknownKeys.map { name in
            let nearest = Spelling.nearest(to: name, among: known).map { "write \"\($0)\" instead" }
            let hint = nearest ?? "remove it: the keys are \(known.joined(separator: ", "))"
            return "warning: \(Self.path ?? ""): there is no key \"\(name.printable())\"\n  hint: \(hint)"
        }
    }
}

extension Failure {
    init(_ error: UserConfigurationError, _ path: String) {
        let flaw: String
        switch error.flaw {
        case .unreadable(let errno):
            self.init(file: path, errno: errno)
            return
        case .notAnObject: flaw = "this is no JSON object"
        case .wrongType(.port): flaw = "\"port\" is no text"
        case .wrongType(.record): flaw = "\"record\" is neither true nor false"
        }
        self.init(
            .usage, code: "bad_configuration", "\(path): \(flaw)",
            hint: "write JSON, as {\"port\": \"/dev/ttyUSB0\", \"record\": false}")
    }
}
