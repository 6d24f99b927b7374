internal import CDBus

/// Objects of this program, for others to call.
extension DBusConnection {
    /// Lets others call an object, until ``unexport(_:)`` or the end of the connection. Object managers above it tell of
    /// it.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` where there is one at the path, or a name or a
    ///   signature is none; with ``DBusError/Code/disconnected`` or ``DBusError/Code/closed``.
    public func export(_ object: DBusObject) async throws(DBusError) {
        try object.check()
        try core.objects.add(object)
        guard !core.objects.managers(of: object.path).isEmpty else { return }
        let interfaces = await CallTarget.interfaces(of: object)
        // Meanwhile it may have gone.
        guard core.objects.object(at: object.path) != nil else { return }
        for manager in core.objects.managers(of: object.path) {
            try emitSignal(
                manager, BusName.objectManager, "InterfacesAdded", [.objectPath(object.path), interfaces])
        }
    }

    /// Takes an object back; object managers above it tell so. Nothing is done where there is none.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/disconnected`` or ``DBusError/Code/closed``.
    public func unexport(_ path: ObjectPath) throws(DBusError) {
        guard let object = core.objects.remove(at: path) else { return }
        for manager in core.objects.managers(of: path) {
            try emitSignal(
                manager, BusName.objectManager, "InterfacesRemoved",
                [.objectPath(path), .strings(object.interfaces.map(\.name))])
        }
    }

    /// Sends a signal, to all who want it or to one.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument``, ``DBusError/Code/disconnected`` or
    ///   ``DBusError/Code/closed``.
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

    /// Tells that properties of an object have changed, with their values or, where they are `invalidated`, without.
    ///
    /// - Throws: ``DBusError`` as ``emitSignal(_:_:_:_:to:)``.
    public func emitPropertiesChanged(
        _ path: ObjectPath, _ interface: String, _ changed: [String: DBusValue], invalidated: [String] = []
    ) throws(DBusError) {
        try emitSignal(
            path, BusName.properties, "PropertiesChanged",
            [.string(interface), .properties(changed), .strings(invalidated)])
    }
}
