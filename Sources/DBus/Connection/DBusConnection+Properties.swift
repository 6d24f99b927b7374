/// Properties of objects in other programs.
extension DBusConnection {
    /// Reads one property.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - interface: The interface that has the property.
    ///   - path: The object.
    ///   - destination: The bus name of the program that has the object.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    /// - Returns: The value, without the variant around it.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does; with ``DBusError/Code/unexpectedValue`` if the reply is
    ///   not a variant.
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
    /// - Parameters:
    ///   - interface: The interface that has the properties.
    ///   - path: The object.
    ///   - destination: The bus name of the program that has the object.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    /// - Returns: The values by name, without the variants around them.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does; with ``DBusError/Code/unexpectedValue`` if the reply is
    ///   not a dictionary with strings as keys.
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
    /// - Parameters:
    ///   - name: The property.
    ///   - interface: The interface that has the property.
    ///   - path: The object.
    ///   - destination: The bus name of the program that has the object.
    ///   - value: The new value, of the property's type.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does.
    public func setProperty(
        _ name: String, of interface: String, at path: ObjectPath, of destination: String, to value: DBusValue,
        timeout: Duration? = defaultTimeout
    ) async throws(DBusError) {
        let arguments: [DBusValue] = [.string(interface), .string(name), .variant(value)]
        try await call(DBusCall(to: destination, path, BusName.properties, "Set", arguments), timeout: timeout)
    }
}
