internal import DescriptorIO

// Who has the device by its lines.
extension SharedDevice {
    /// Joins a client, whose channel is on the device's loop, to the device, which has it by its lines until it leaves.
    ///
    /// - Parameters:
    ///   - name: What the log calls it.
    ///   - isExtra: Whether as many were there as may be.
    ///   - onEnd: Called once its connection is closed.
    func join(
        _ channel: DescriptorChannel, _ name: String, _ kind: LineClient.Kind, isExtra: Bool = false,
        onEnd: (@Sendable () -> Void)? = nil
    ) {
        let client = enroll(channel, name, kind, isExtra: isExtra)
        client.onEnd = onEnd
        channel.assumeIsolated {
            $0.forward { [id = client.id] arrival in
                self.assumeIsolated { device in
                    if case .success(let bytes?) = arrival { return device.hear(bytes, id) }
                    device.endInput(of: id)
                }
            }
        }
    }

    /// Takes a client whose bytes somebody else reads, and hands to ``hear(_:_:)`` and ``endInput(of:)``.
    func enroll(
        _ channel: DescriptorChannel, _ name: String, _ kind: LineClient.Kind, isExtra: Bool = false
    ) -> LineClient {
        lastID += 1
        let framer = ClientFramer(row.framing, lineLimit: Self.lineLimit)
        let client = LineClient(ClientID(number: lastID), name, kind, channel, framer, isExtra: isExtra)
        clients[client.id] = client
        if isExtra { endExtra(client) }
        addUser()
        report(.came(client.name))
        return client
    }

    /// Hangs up on a client that came when as many were there as may be, once it has had its time.
    private func endExtra(_ client: LineClient) {
        Task(executorPreference: loop) { [clock] in
            guard (try? await clock.sleep(for: Self.patience)) != nil else { return }
            await self.endTime(of: client)
        }
    }

    private func endTime(of client: LineClient) {
        guard clients[client.id] != nil else { return }
        // What it repeated while it waited to be let in takes its time.
        if client.stopCount > 0 { endExtra(client) } else { turnAway(client) }
    }

    /// Parts with a client that came when as many were there as may be, and tells it why.
    func turnAway(_ client: LineClient) {
        if let notice = row.fullNotice { _ = client.tell(notice) }
        client.forgetLines()
        report(.dropped(client.name, LineClient.Offence.noPlace.rawValue))
        hangUp(client)
    }

    /// A client says nothing more. One that has only ended its own direction still gets the answers to what it has asked.
    func endInput(of id: ClientID) {
        guard let client = clients[id] else { return }
        client.hasEnded = true
        if client.isOwedAnswer, client.channel.assumeIsolated({ $0.isOpen }) { return }
        hangUp(client)
    }

    /// Closes a client's connection once it has taken the answers that wait for it.
    func hangUp(_ client: LineClient) {
        guard clients.removeValue(forKey: client.id) != nil else { return }
        report(.left(client.name))
        removeUser()
        Task(executorPreference: loop) { [loop, clock] in
            let timer = Task(executorPreference: loop) {
                if (try? await clock.sleep(for: Self.patience)) != nil { await client.channel.close() }
            }
            await client.finish()
            timer.cancel()
            await client.close()
        }
    }

    private func leave(_ client: LineClient) {
        guard clients.removeValue(forKey: client.id) != nil else { return }
        client.fallSilent()
        report(.left(client.name))
        removeUser()
    }

    /// Parts with a client that can't be served; one on a pseudo-terminal stays until it leaves.
    func drop(_ client: LineClient, for offence: LineClient.Offence) {
        client.forgetLines()
        if client.kind == .terminal {
            if !client.isReproached { report(.notServed(client.name, offence.rawValue)) }
            client.isReproached = true
            return
        }
        report(.dropped(client.name, offence.rawValue))
        leave(client)
        Task(executorPreference: loop) { await client.close() }
    }
}
