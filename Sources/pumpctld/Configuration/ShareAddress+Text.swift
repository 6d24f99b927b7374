import Glibc
import Sharing
import TOMLReading

extension ShareAddress {
    /// The maximum length of a Unix socket's path in bytes: one less than the size of `sun_path`, for the NUL.
    private static let longestPath = 107

    /// Parses a TCP address: a port on loopback, or `host:port`.
    ///
    /// - Parameters:
    ///   - key: The key in the file, or the name of the option, which the error names.
    ///   - place: The place of the address, which the error names.
    init(tcp text: String, _ key: String = "tcp", at place: ConfigurationPlace) throws(ConfigurationError) {
        let hint = "write a port, e.g. \(place.example(key, "4000")), or host:port, e.g. 127.0.0.1:4000 or [::1]:4000"
        func bad(_ problem: String) -> ConfigurationError {
            ConfigurationError(.badValue, place.of(key), problem, hint: hint)
        }
        let colon = text.lastIndex(of: ":")
        let portText = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard portText.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let port = UInt16(portText),
            port > 0
        else { throw bad("'\(text)' has no port from 1 to 65535") }
        var host = colon.map { String(text[..<$0]) } ?? "127.0.0.1"
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":") else { throw bad("'\(host)' is not an IPv6 address") }
        } else if host.contains(":") {
            throw bad("an IPv6 address must be in brackets")
        }
        guard !host.isEmpty else { throw bad("'\(text)' has no host") }
        self = .tcp(host: host, port: port)
    }

    /// Rejects a path that can't be used for a socket or a symbolic link. In a file, a path must be absolute.
    ///
    /// - Parameters:
    ///   - key: The key in the file, or the name of the option, which the error names. `pty` stands for a symbolic
    ///     link, whose path may be longer than a socket's.
    ///   - place: The place of the path, which the error names.
    static func checkPath(_ path: String, _ key: String, at place: ConfigurationPlace) throws(ConfigurationError) {
        let isFit = !path.isEmpty && !path.hasSuffix("/") && !path.utf8.contains(0)
        guard isFit, place == .commandLine || path.hasPrefix("/") else {
            throw ConfigurationError(
                .badValue, place.of(key), "'\(path)' can't be used as a path",
                hint: "write a path that begins with /, e.g. \(place.example(key, "/run/pumpctld/pump"))")
        }
        guard key == "pty" || path.utf8.count <= longestPath else {
            throw ConfigurationError(
                .badValue, place.of(key), "the path is too long for a socket: \(path.utf8.count) bytes",
                hint: "choose a path of at most \(longestPath) bytes")
        }
    }

    /// Whether programs on other machines may reach the share.
    ///
    /// A host name can resolve to any address, so only `localhost` and loopback addresses are known to be safe.
    var isExposed: Bool {
        guard case .tcp(let host, _) = self, host != "localhost" else { return false }
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 != 127 }
        var address6 = in6_addr()
        guard inet_pton(AF_INET6, host, &address6) == 1 else { return true }
        return withUnsafeBytes(of: &address6) { $0.dropLast().contains { $0 != 0 } || $0.last != 1 }
    }

    /// The key of this kind of share in a configuration.
    var key: String {
        switch self {
        case .terminal: "pty"
        case .tcp: "tcp"
        case .unix: "unix"
        }
    }
}
