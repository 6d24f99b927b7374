/// Ownership of names on the bus.
extension DBusConnection {
    /// The result of a request for a name.
    public enum NameRequest: UInt32, Sendable, Hashable {
        /// The connection is now the owner of the name.
        case owner = 1
        /// Another connection owns the name. This connection waits for the name in the bus's queue.
        case queued = 2
        /// Another connection owns the name, and this connection does not wait for the name.
        case taken = 3
        /// The connection was already the owner of the name.
        case alreadyOwner = 4
    }

    /// Requests a well-known name.
    ///
    /// - Parameters:
    ///   - name: A well-known name such as `org.example.Lamp`.
    ///   - replaces: Whether to take the name from an owner that allows its replacement.
    ///   - allowsReplacement: Whether other connections may take the name from this one.
    ///   - queues: Whether to wait in the bus's queue if another connection owns the name.
    /// - Returns: The result; ``NameRequest/taken`` is not an error.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does; with ``DBusErrorName/accessDenied`` if the bus's policy
    ///   forbids the name.
    public func requestName(
        _ name: String, replaces: Bool = false, allowsReplacement: Bool = false, queues: Bool = false
    ) async throws(DBusError) -> NameRequest {
        let flags: UInt32 = (allowsReplacement ? 1 : 0) | (replaces ? 2 : 0) | (queues ? 0 : 4)
        let reply = try await call(DBusCall(toBus: "RequestName", [.string(name), .uint32(flags)]))
        guard let result = reply.first?.uint32.flatMap(NameRequest.init) else {
            throw DBusError(.unexpectedValue, activity: "requesting the name \(name)")
        }
        return result
    }

    /// Releases a name that this connection owns, or the connection's place in the queue for the name. Does nothing if
    /// the connection has neither.
    ///
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does.
    public func releaseName(_ name: String) async throws(DBusError) {
        try await call(DBusCall(toBus: "ReleaseName", [.string(name)]))
    }

    /// Returns the unique name of the owner of a name; nil if the name has no owner.
    ///
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does.
    public func owner(of name: String) async throws(DBusError) -> String? {
        do throws(DBusError) {
            return try await call(DBusCall(toBus: "GetNameOwner", [.string(name)])).first?.string
        } catch {
            guard error.name == .nameHasNoOwner else { throw error }
            return nil
        }
    }
}
