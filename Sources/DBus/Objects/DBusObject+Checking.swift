extension DBusObject {
    /// Validates the names and signatures of the object.
    ///
    /// - Throws: ``DBusError`` with ``DBusError/Code/invalidArgument`` if a name is invalid, or a signature is not one
    ///   type.
    func check() throws(DBusError) {
        let activity = "exporting \(path)"
        for interface in interfaces {
            try BusName.check(interface.name, .interface, activity: activity)
            for method in interface.methods {
                try BusName.check(method.name, .member, activity: activity)
                try Self.checkSingle(method.inputs.map(\.signature), activity)
                try Self.checkSingle(method.outputs.map(\.signature), activity)
            }
            for property in interface.properties {
                try BusName.check(property.name, .member, activity: activity)
                try Self.checkSingle([property.signature], activity)
            }
            for signal in interface.signals {
                try BusName.check(signal.name, .member, activity: activity)
                try Self.checkSingle(signal.arguments.map(\.signature), activity)
            }
        }
    }

    private static func checkSingle(_ signatures: [DBusSignature], _ activity: String) throws(DBusError) {
        for signature in signatures where signature.parts.count != 1 {
            throw DBusError(.invalidArgument, message: "\"\(signature)\" is not a single type", activity: activity)
        }
    }
}
