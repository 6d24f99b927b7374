/// Properties of other programs' objects.
extension DBusConnection {
    /// Reads one property.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``; with ``DBusError/Code/unexpectedValue``.
    public func property(
        _ name: String, of interface: String, at path: ObjectPath, of destination: String,
        timeout: Duration? = defaultTimeout
    ) async throws(DBusError) -> DBusValue {
        let call = DBusCall(to: destination, path, BusName.properties, "Get", [.string(interface), .string(name)])
        guard case .variant(let value)? = try await self.call(call, timeout: timeout).first else {
            throw DBusError(.unexpectedValue, activity: "reading \(interface).\(name) of \(path)")
        }
        return value
    }

    /// Reads all properties of an interface.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``; with ``DBusError/Code/unexpectedValue``.
    public func properties(
        of interface: String, at path: ObjectPath, of destination: String, timeout: Duration? = defaultTimeout
    ) async throws(DBusError) -> [String: DBusValue] {
        let call = DBusCall(to: destination, path, BusName.properties, "GetAll", [.string(interface)])
        guard let properties = try await self.call(call, timeout: timeout).first?.properties else {
            throw DBusError(.unexpectedValue, activity: "reading the properties \(interface) of \(path)")
        }
        return properties
    }

    /// Writes a property.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``.
    public func setProperty(
        _ name: String, of interface: String, at path: ObjectPath, of destination: String, to value: DBusValue,
        timeout: Duration? = defaultTimeout
    ) async throws(DBusError) {
        let arguments: [DBusValue] = [.string(interface), .string(name), .variant(value)]
        try await call(DBusCall(to: destination, path, BusName.properties, "Set", arguments), timeout: timeout)
    }
}
