import Sharing
import TOMLReading

/// The settings of the page that `pumpctl-page` serves to browsers.
struct HTTPSettings: Sendable, Hashable {
    /// The permitted hosts of ``address``, none of which programs on other machines reach.
    private static let loopback = ["127.0.0.1", "::1", "localhost"]

    /// The address that the page is served at: a TCP port of loopback, or a Unix socket.
    let address: ShareAddress
    /// More host names by which browsers reach the page, such as that of a reverse proxy.
    let hosts: [String]
    /// The path of the folder of captures that browsers may read; nil for none.
    let captures: String?

    /// Parses the settings.
    ///
    /// - Parameters:
    ///   - text: The address: a port, `host:port` or `unix:/path`.
    ///   - hosts: The host names.
    ///   - captures: The path of the folder of captures; nil for none.
    ///   - place: The place of the settings, which errors name.
    init(
        _ text: String, hosts: [String], captures: String? = nil, at place: ConfigurationPlace
    ) throws(ConfigurationError) {
        let key = place == .commandLine ? "http" : "listen"
        let scheme = "unix:"
        if text.hasPrefix(scheme) {
            let path = String(text.dropFirst(scheme.utf8.count))
            do throws(ConfigurationError) { try ShareAddress.checkPath(path, key, at: place) } catch {
                var error = error
                error.hint = "write a short path: \(place.example(key, "unix:/run/pumpctld/page"))"
                throw error
            }
            address = .unix(path: path)
        } else {
            address = try ShareAddress(tcp: text, key, at: place)
        }
        if case .tcp(let host, _) = address, !Self.loopback.contains(host) {
            throw ConfigurationError(
                .insecure, place.of(key),
                "'\(text)' is not an address of loopback: the page is served on this machine only",
                hint: "give only a port; a reverse proxy may serve other machines, with TLS and a password")
        }
        for host in hosts where !Self.isName(host) {
            throw ConfigurationError(
                .badValue, place.of("hosts"), "'\(host)' is not a host name",
                hint: "write a name without scheme and port: hosts = \"bench.example\"")
        }
        if let captures, !captures.hasPrefix("/") || captures.utf8.contains(0) {
            throw ConfigurationError(
                .badValue, place.of("captures"), "'\(captures)' can't be used as a path",
                hint: "write a path that begins with /, e.g. \(place.example("captures", "/srv/captures"))")
        }
        (self.hosts, self.captures) = (hosts, captures)
    }

    /// Whether a text is a host name or an IPv4 address. A name of DNS has at most 253 characters.
    private static func isName(_ text: String) -> Bool {
        let isFit = text.utf8.allSatisfy { byte in
            "-._".utf8.contains(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        }
        return isFit && !text.isEmpty && !text.hasPrefix("-") && text.utf8.count <= 253
    }

    /// Returns the arguments with which `pumpctl-page` serves the page.
    ///
    /// - Parameter socket: The path of the socket of the daemon.
    func arguments(for socket: String) -> [String] {
        let text = "\(address)"
        let http = text.hasPrefix("tcp:") ? String(text.dropFirst("tcp:".count)) : text
        return ["--http", http, "--socket", socket] + hosts.flatMap { ["--host", $0] }
            + (captures.map { ["--captures", $0] } ?? [])
    }
}
