internal import Glibc

/// A file descriptor that is closed when its last reference is released.
///
/// Sending a descriptor sends a copy. The receiver owns a received descriptor.
public final class OwnedDescriptor: Sendable {
    /// The descriptor's number, valid while this object exists.
    public let number: CInt

    /// Takes ownership of an open descriptor.
    public init(taking number: CInt) { self.number = number }

    deinit { close(number) }

    /// Duplicates the descriptor. The copy is close-on-exec.
    ///
    /// - Returns: A new descriptor of the same open file. The caller must close it.
    /// - Throws: ``DBusError`` with ``DBusError/Code/system`` if no descriptor is left.
    public func duplicate() throws(DBusError) -> CInt {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw DBusError(.system, message: String(cString: strerror(errno)), activity: "duplicating a descriptor")
        }
        return copy
    }
}

extension OwnedDescriptor: Hashable {
    /// Whether both are the same object.
    public static func == (left: OwnedDescriptor, right: OwnedDescriptor) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
