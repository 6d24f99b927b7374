internal import Glibc

extension DescriptorChannel {
    /// A name for the far end of a socket, for a log: `127.0.0.1:50514`, or `pid 4711 of user 1000`; `unknown` if the
    /// kernel has no name for it, or the channel is closed.
    public var farEndName: String {
        if let peer = try? peer(), peer.userID != .max { return "pid \(peer.processID) of user \(peer.userID)" }
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 8)
        var port = [CChar](repeating: 0, count: 8)
        let result = try? withDescriptor { descriptor in
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard getpeername(descriptor, address, &length) == 0 else { return false }
                    let flags = CInt(NI_NUMERICHOST | NI_NUMERICSERV)
                    return getnameinfo(
                        address, length, &name, socklen_t(name.count), &port, socklen_t(port.count), flags) == 0
                }
            }
        }
        guard result == true else { return "unknown" }
        let host = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let number = port.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return host.contains(":") ? "[\(host)]:\(number)" : "\(host):\(number)"
    }

    /// Makes the kernel notice within about 11 s if the machine at the other end of a TCP connection is gone: after 5 s
    /// of silence, it sends three probes, 2 s apart. By default the kernel takes two hours, or a quarter of an hour for
    /// unacknowledged data.
    ///
    /// The corresponding options of tcp(7) are `TCP_KEEPIDLE`, `TCP_KEEPINTVL`, `TCP_KEEPCNT` and `TCP_USER_TIMEOUT`.
    public func findDeadFarEnd() {
        _ = try? withDescriptor { descriptor in
            let options: [(name: CInt, value: CInt)] = [
                (TCP_KEEPIDLE, 5), (TCP_KEEPINTVL, 2), (TCP_KEEPCNT, 3), (TCP_USER_TIMEOUT, 11_000),
            ]
            for option in options {
                var value = option.value
                setsockopt(descriptor, CInt(IPPROTO_TCP), option.name, &value, socklen_t(MemoryLayout<CInt>.size))
            }
        }
    }
}
