internal import DBus
internal import Glibc

/// A pair of connected sockets: `ours` stays with the caller, `theirs` is for the other program or object.
struct SocketPair {
    let ours: CInt
    let theirs: CInt

    /// - Throws: ``DBusError`` with ``DBusError/Code/system`` if no descriptor is left.
    init(_ kind: __socket_type) throws(DBusError) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(kind.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0
        else { throw DBusError(.system, message: String(cString: strerror(errno)), activity: "making sockets") }
        (ours, theirs) = (ends[0], ends[1])
    }
}
