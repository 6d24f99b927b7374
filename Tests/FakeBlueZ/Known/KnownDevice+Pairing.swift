internal import DBus

/// Pairing.
extension KnownDevice {
    func pair(for client: String) async throws {
        try adapter.requirePower()
        if isPaired { throw BlueZError.alreadyExists }
        if link == nil { try await connect() }
        switch radio.manners.pairing {
        case .justWorks: break
        case .refused: throw BlueZError.authenticationFailed
        case .confirmation(let passkey):
            _ = try await ask(client, "RequestConfirmation", [.objectPath(path), .uint32(passkey)])
        case .entry(let passkey):
            let answer = try await ask(client, "RequestPasskey", [.objectPath(path)])
            guard answer.first?.uint32 == passkey else { throw BlueZError.authenticationFailed }
        }
        isPaired = true
    }

    private func ask(_ client: String, _ member: String, _ arguments: [DBusValue]) async throws -> [DBusValue] {
        guard let agent = bluez.agents.agent(for: client), let connection = bluez.connection else {
            throw BlueZError.authenticationFailed
        }
        do {
            let call = DBusCall(to: agent.client, agent.path, BlueZName.agent, member, arguments)
            return try await connection.call(call, timeout: nil)
        } catch {
            throw BlueZError.authenticationRejected
        }
    }
}
