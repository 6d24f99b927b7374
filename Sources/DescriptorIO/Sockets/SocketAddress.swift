internal import Glibc

/// The address of a stream socket: a TCP host and port, or the path of a Unix socket.
public enum SocketAddress: Sendable, Hashable {
    /// A host name or address, and a port from 1 to 65535, or 0 to listen on any free port.
    case tcp(host: String, port: UInt16)
    /// A path of at most 107 bytes.
    case unix(path: String)
}

extension SocketAddress: CustomStringConvertible {
    /// A description such as `tcp:bench:4000` or `unix:/run/pump.sock`.
    public var description: String {
        switch self {
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// An address in the form that socket calls take.
struct RawSocketAddress: Sendable {
    let family: CInt
    private let storage: [UInt8]

    init(family: CInt, copying address: UnsafeRawPointer, length: Int) {
        self.family = family
        storage = Array(UnsafeRawBufferPointer(start: address, count: length))
    }

    func withAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        storage.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }
}

extension SocketAddress {
    /// Resolves the address, with the best result first.
    ///
    /// A host name is looked up in a detached task, so that a slow name server does not block the event loop.
    ///
    /// - Throws: `system` with ENAMETOOLONG if the path of a Unix socket is empty, too long, or contains NUL;
    ///   `unknownHost`; or `system` if getaddrinfo(3) fails with EAI_SYSTEM.
    func resolve(toListen: Bool) async throws(DescriptorError) -> [RawSocketAddress] {
        switch self {
        case .unix(let path): return [try Self.unixAddress(path)]
        case .tcp(let host, let port):
            let result = await Task.detached { Self.lookUp(host: host, port: port, toListen: toListen) }.value
            return try result.get()
        }
    }

    private static func unixAddress(_ path: String) throws(DescriptorError) -> RawSocketAddress {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            throw DescriptorError(errno: ENAMETOOLONG, call: "bind")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafeBytes(of: &address) {
            RawSocketAddress(family: AF_UNIX, copying: $0.baseAddress!, length: $0.count)
        }
    }

    /// Returns the flags of getaddrinfo(3) for successive look-ups of a host, until one succeeds.
    ///
    /// A host with a colon is an IPv6 address. Any other host is tried as an address first, then as a name: names may
    /// consist of hexadecimal digits, as container IDs do. AI_ADDRCONFIG leaves out loopback addresses if the
    /// machine has no other, so `localhost` is looked up without it.
    static func lookUps(of host: String) -> [CInt] {
        if host.first == "[" || host.contains(":") { return [AI_NUMERICHOST] }
        return [AI_NUMERICHOST, host == "localhost" ? 0 : AI_ADDRCONFIG]
    }

    private static func lookUp(
        host: String, port: UInt16, toListen: Bool
    ) -> Result<[RawSocketAddress], DescriptorError> {
        var list: UnsafeMutablePointer<addrinfo>?
        defer { if let list { freeaddrinfo(list) } }
        let bareHost = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        var code = EAI_NONAME
        for flags in lookUps(of: host) where code == EAI_NONAME {
            var hints = addrinfo()
            hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
            hints.ai_flags = AI_NUMERICSERV | (toListen ? AI_PASSIVE | flags & ~AI_ADDRCONFIG : flags)
            code = getaddrinfo(bareHost, String(port), &hints, &list)
        }
        guard code == 0 else {
            return .failure(
                code == EAI_SYSTEM
                    ? DescriptorError(.system, errno: Glibc.errno, call: "getaddrinfo")
                    : DescriptorError(.unknownHost(code), call: "getaddrinfo"))
        }
        var addresses: [RawSocketAddress] = []
        var next = list
        while let info = next?.pointee {
            addresses.append(
                RawSocketAddress(family: info.ai_family, copying: info.ai_addr, length: Int(info.ai_addrlen)))
            next = info.ai_next
        }
        return .success(addresses)
    }
}
