internal import CDBus

/// Objects of this program that other programs can call.
extension DBusConnection {
    /// Exports an object until ``unexport(_:)`` or the end of the connection. Each object manager above it sends
    /// `InterfacesAdded`.
    ///
    /// - Parameter object: The object, at a path where no object is exported yet.
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` if an object is exported at the path already, or
    ///   a name or a signature is invalid; otherwise as ``emitSignal(_:_:_:_:to:)`` does.
    public func export(_ object: DBusObject) async throws(DBusError) {
        try object.check()
        try core.objects.add(object)
        guard !core.objects.managers(of: object.path).isEmpty else { return }
        let interfaces = await CallTarget.interfaces(of: object)
        // The object may have been unexported while its properties were read.
        guard core.objects.object(at: object.path) != nil else { return }
        for manager in core.objects.managers(of: object.path) {
            try emitSignal(
                manager, BusName.objectManager, "InterfacesAdded", [.objectPath(object.path), interfaces])
        }
    }

    /// Withdraws an exported object. Each object manager above it sends `InterfacesRemoved`. Does nothing if there is
    /// no object at the path.
    ///
    /// - Parameter path: The path of the object.
    /// - Throws: ``DBusError``, as ``emitSignal(_:_:_:_:to:)`` does.
    public func unexport(_ path: ObjectPath) throws(DBusError) {
        guard let object = core.objects.remove(at: path) else { return }
        for manager in core.objects.managers(of: path) {
            try emitSignal(
                manager, BusName.objectManager, "InterfacesRemoved",
                [.objectPath(path), .strings(object.interfaces.map(\.name))])
        }
    }

    /// Sends a signal.
    ///
    /// - Parameters:
    ///   - path: The object that sends the signal.
    ///   - interface: The interface of the signal.
    ///   - member: The name of the signal.
    ///   - arguments: The arguments, in order.
    ///   - destination: The bus name of the only receiver; nil to send to all subscribers.
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``, ``DBusError/Code/disconnected``,
    ///   ``DBusError/Code/closed`` or ``DBusError/Code/system``.
    public func emitSignal(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
        to destination: String? = nil
    ) throws(DBusError) {
        let activity = "sending \(interface).\(member)"
        try BusName.check(interface, .interface, activity: activity)
        try BusName.check(member, .member, activity: activity)
        if let destination { try BusName.check(destination, .busName, activity: activity) }
        let message = try OutgoingMessage(
            cdbus_new_signal(path.text, interface, member), arguments, activity: activity)
        if let destination, !cdbus_set_destination(message.pointer, destination) {
            throw OutgoingMessage.exhausted(activity)
        }
        try core.send(message, activity: activity)
    }

    /// Sends `PropertiesChanged` for an object.
    ///
    /// - Parameters:
    ///   - path: The object.
    ///   - interface: The interface that has the properties.
    ///   - changed: The changed properties with their new values.
    ///   - invalidated: The names of changed properties whose values are not sent.
    /// - Throws: ``DBusError``, as ``emitSignal(_:_:_:_:to:)`` does.
    public func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: String, _ changed: [String: DBusValue], invalidated: [String] = []
    ) throws(DBusError) {
        try emitSignal(
            path, BusName.properties, "PropertiesChanged",
            [.string(interface), .properties(changed), .strings(invalidated)])
    }
}
