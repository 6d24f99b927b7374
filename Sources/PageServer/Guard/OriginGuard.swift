internal import Glibc
internal import NIOHTTP1

/// Refuses requests that a browser sends on behalf of another site, before anything else is done with them.
///
/// A browser sends requests of any site to a loopback address. A site may also have its own name resolve to a loopback
/// address (DNS rebinding), so the name in `Host` must be one of the server's own.
struct OriginGuard {
    /// The TCP port of the server; nil on a Unix socket, which a reverse proxy reaches.
    let port: Int?
    /// The further names of the server, in lower case, as behind a reverse proxy.
    let names: Set<String>

    /// Checks the headers of a request.
    ///
    /// - Throws: `wrong_host` with status 421; `wrong_origin` with status 403.
    func check(_ headers: HTTPHeaders) throws(Problem) {
        let hosts = headers["host"]
        guard hosts.count == 1, let own = ownOrigins(byHost: hosts[0]) else {
            throw Problem(
                .misdirectedRequest, "wrong_host", "the name in 'Host' is not one of this server",
                hint: "use localhost or 127.0.0.1 with the server's port, or add the name: 'hosts' in [http], or --host"
            )
        }
        let foreign = Problem(
            .forbidden, "wrong_origin", "the request comes from another site",
            hint: "open the page at its own address, and follow no link to it")
        let origins = headers["origin"]
        guard origins.count <= 1, origins.allSatisfy({ own.contains($0.lowercased()) }) else { throw foreign }
        guard headers["sec-fetch-site"].allSatisfy({ $0 == "none" || $0 == "same-origin" }) else { throw foreign }
    }

    /// Returns the origins of the server's own pages if `host` names the server; otherwise nil.
    private func ownOrigins(byHost text: String) -> Set<String>? {
        let host = text.lowercased()
        guard let (name, givenPort) = Self.split(host) else { return nil }
        if names.contains(name) { return ["http://\(host)", "https://\(host)"] }
        guard Self.isLoopback(name), port == nil || givenPort ?? 80 == port else { return nil }
        return port == nil ? ["http://\(host)", "https://\(host)"] : ["http://\(host)"]
    }

    /// Splits `name:port`, or `[address]:port`; nil if it is neither.
    private static func split(_ host: String) -> (name: String, port: Int?)? {
        var rest = host[...]
        let name: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<end]
            guard name.contains(":") else { return nil }
            rest = rest[rest.index(after: end)...]
        } else {
            name = rest.prefix { $0 != ":" }
            rest = rest[name.endIndex...]
        }
        guard !name.isEmpty else { return nil }
        if rest.isEmpty { return (String(name), nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits)
        else { return nil }
        return (String(name), port)
    }

    /// Whether a name is `localhost`, or an address that always means this machine: 127.0.0.0/8 in four decimal
    /// numbers, or ::1.
    static func isLoopback(_ name: String) -> Bool {
        if name == "localhost" { return true }
        var address = in_addr()
        if inet_pton(AF_INET, name, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        var address6 = in6_addr()
        guard inet_pton(AF_INET6, name, &address6) == 1 else { return false }
        return withUnsafeBytes(of: &address6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}
