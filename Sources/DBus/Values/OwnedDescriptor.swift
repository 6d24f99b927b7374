internal import Glibc

/// A file descriptor that closes itself when nobody has it any more.
///
/// Sending one sends a copy; one that was received belongs to who has it.
public final class OwnedDescriptor: Sendable {
    /// The number, valid as long as this object is there.
    public let number: CInt

    /// Takes over an open descriptor.
    public init(taking number: CInt) { self.number = number }

    deinit { close(number) }

    /// A further descriptor of the same open file, close-on-exec, which belongs to the caller.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/system`` where none is left.
    public func duplicate() throws(DBusError) -> CInt {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            throw DBusError(.system, message: String(cString: strerror(errno)), activity: "duplicating a descriptor")
        }
        return copy
    }
}

extension OwnedDescriptor: Hashable {
    /// Whether both are the same open descriptor.
    public static func == (left: OwnedDescriptor, right: OwnedDescriptor) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
