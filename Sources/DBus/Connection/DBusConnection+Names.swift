/// Names on the bus.
extension DBusConnection {
    /// What came of asking for a name.
    public enum NameRequest: UInt32, Sendable, Hashable {
        /// The name is this connection's now.
        case owner = 1
        /// Another has it, and this one gets it next.
        case queued = 2
        /// Another has it.
        case taken = 3
        /// The name was this connection's already.
        case alreadyOwner = 4
    }

    /// Asks for a well-known name.
    ///
    /// - Parameters:
    ///   - replaces: Whether to take the name from who has it and allows that.
    ///   - allowsReplacement: Whether others may take it.
    ///   - queues: Whether to wait in a queue where it is taken.
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``; with ``DBusErrorName/accessDenied`` where the bus's policy does
    ///   not allow it.
    public func requestName(
        _ name: String, replaces: Bool = false, allowsReplacement: Bool = false, queues: Bool = false
    ) async throws(DBusError) -> NameRequest {
        let flags: UInt32 = (allowsReplacement ? 1 : 0) | (replaces ? 2 : 0) | (queues ? 0 : 4)
        let reply = try await call(DBusCall(toBus: "RequestName", [.string(name), .uint32(flags)]))
        guard let result = reply.first?.uint32.flatMap(NameRequest.init) else {
            throw DBusError(.unexpectedValue, activity: "asking for the name \(name)")
        }
        return result
    }

    /// Gives a name back.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``.
    public func releaseName(_ name: String) async throws(DBusError) {
        try await call(DBusCall(toBus: "ReleaseName", [.string(name)]))
    }

    /// The unique name of who has a name; nil if nobody has.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``.
    public func owner(of name: String) async throws(DBusError) -> String? {
        do throws(DBusError) {
            return try await call(DBusCall(toBus: "GetNameOwner", [.string(name)])).first?.string
        } catch {
            guard error.name == .nameHasNoOwner else { throw error }
            return nil
        }
    }
}
