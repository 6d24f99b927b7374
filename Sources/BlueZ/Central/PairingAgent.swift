internal import DBus

extension BlueZ {
    private static let agentPath: ObjectPath = "/org/pumpctl/agent"

    func pair(with device: Device) async throws(BLEError) {
        let activity = "pairing with \(device.address)"
        guard let path = keeper.devicePath(device.address, on: device.adapter) else {
            throw BLEError(.notFound, activity: activity, hint: "scan again: the device went out of range")
        }
        if keeper.mirror[path, BlueZName.device]?["Paired"]?.boolean == true { return }
        try await registerAgent()
        // A person at the device may need this long.
        try await call(path, BlueZName.device, "Pair", timeout: .seconds(60), activity: activity)
    }

    /// Registers an agent that accepts pairing, and declares that nothing can be shown or entered here.
    private func registerAgent() async throws(BLEError) {
        let generation = keeper.generation
        guard agentGeneration != generation else { return }
        do throws(DBusError) {
            // If only bluetoothd has restarted, the agent is still exported.
            try await bus.unexport(Self.agentPath)
            try await bus.export(PairingAgent.object(at: Self.agentPath))
        } catch {
            throw BLEError(error, activity: "offering to pair")
        }
        try await call(
            BlueZName.root, BlueZName.agentManager, "RegisterAgent",
            [.objectPath(Self.agentPath), .string("NoInputNoOutput")], activity: "offering to pair")
        agentGeneration = generation
    }
}

/// The agent that answers bluetoothd's questions during pairing: it agrees, unless a person would have to compare or
/// enter a number at this computer.
enum PairingAgent {
    static func object(at path: ObjectPath) -> DBusObject {
        let agrees: DBusMethod.Handler = { _ in [] }
        let refuses: DBusMethod.Handler = { _ in
            throw DBusError(answering: "org.bluez.Error.Rejected", "nothing can be shown or typed here")
        }
        let device = DBusArgument("device", "o")
        let passkey = DBusArgument("passkey", "u")
        return DBusObject(
            path,
            [
                DBusInterface(
                    "org.bluez.Agent1",
                    methods: [
                        DBusMethod("Release", handler: agrees),
                        DBusMethod("Cancel", handler: agrees),
                        DBusMethod("RequestAuthorization", inputs: [device], handler: agrees),
                        DBusMethod(
                            "AuthorizeService", inputs: [device, DBusArgument("uuid", "s")], handler: agrees),
                        DBusMethod("RequestConfirmation", inputs: [device, passkey], handler: refuses),
                        DBusMethod(
                            "RequestPinCode", inputs: [device], outputs: [DBusArgument("pin", "s")], handler: refuses),
                        DBusMethod("RequestPasskey", inputs: [device], outputs: [passkey], handler: refuses),
                    ])
            ])
    }
}
