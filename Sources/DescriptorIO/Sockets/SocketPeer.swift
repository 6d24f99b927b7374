internal import Glibc

/// The process at the other end of a Unix socket, as the kernel recorded it at the time of connecting.
public struct SocketPeer: Sendable, Hashable {
    /// The process ID; 0 if the process is in another PID namespace.
    public let processID: Int32
    /// The ID of the process's effective user; `UInt32.max` if the socket is no Unix socket.
    public let userID: UInt32
}

extension DescriptorChannel {
    /// Returns the process at the other end of a Unix socket.
    ///
    /// The corresponding option of getsockopt(2) is `SO_PEERCRED`.
    ///
    /// - Throws: `system` if the descriptor is no socket; `closed`, or the error that ended the channel.
    public func peer() throws(DescriptorError) -> SocketPeer {
        // `struct ucred`, which Swift's Glibc module lacks: pid, uid, gid.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        let error = try withDescriptor { descriptor in
            var length = socklen_t(MemoryLayout.size(ofValue: credentials))
            return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 ? 0 : errno
        }
        guard error == 0 else { throw DescriptorError(.system, errno: error, call: "getsockopt") }
        return SocketPeer(processID: credentials.0, userID: credentials.1)
    }
}
