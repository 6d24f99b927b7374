internal import DBus

/// The pairing agents that clients have registered.
@Radio
final class AgentManager {
    struct Agent {
        let client: String
        let path: ObjectPath
        let capability: String
    }

    private var agents: [Agent] = []
    /// The client whose agent handles pairings of clients without an agent.
    private var defaultClient: String?

    nonisolated init() {}

    func interface(in bluez: FakeBlueZ) -> LiveInterface {
        LiveInterface(
            BlueZName.agentManager,
            methods: [
                bluez.method("RegisterAgent", [DBusArgument("agent", "o"), DBusArgument("capability", "s")]) {
                    [self] call in
                    try register(call)
                    return []
                },
                bluez.method("UnregisterAgent", [DBusArgument("agent", "o")]) { [self] call in
                    try unregister(call)
                    return []
                },
                bluez.method("RequestDefaultAgent", [DBusArgument("agent", "o")]) { [self] call in
                    guard agent(of: call.sender) != nil else { throw BlueZError.doesNotExist }
                    defaultClient = call.sender
                    return []
                },
            ])
    }

    private func register(_ call: DBusMethodCall) throws(DBusError) {
        let capabilities = ["", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]
        guard let path = call.arguments[0].objectPath, let capability = call.arguments[1].string,
            capabilities.contains(capability)
        else { throw BlueZError.invalidArguments }
        guard agent(of: call.sender) == nil else { throw BlueZError.alreadyExists }
        agents.append(Agent(client: call.sender, path: path, capability: capability))
    }

    private func unregister(_ call: DBusMethodCall) throws(DBusError) {
        guard let agent = agent(of: call.sender), agent.path == call.arguments[0].objectPath else {
            throw BlueZError.doesNotExist
        }
        forget(client: call.sender)
    }

    private func agent(of client: String) -> Agent? { agents.first { $0.client == client } }

    /// The agent for a client's pairing: the client's own, else the default client's, else the first registered one;
    /// nil if there is none.
    func agent(for client: String) -> Agent? {
        agent(of: client) ?? defaultClient.flatMap { agent(of: $0) } ?? agents.first
    }

    func forget(client: String) {
        agents.removeAll { $0.client == client }
        if defaultClient == client { defaultClient = nil }
    }

    func forgetAll() {
        agents = []
        defaultClient = nil
    }
}
