internal import DescriptorIO

// The clients, which use the device by its lines.
extension SharedDevice {
    /// Adds a client and reads its lines until it leaves. The client's channel must be on the device's loop.
    ///
    /// - Parameters:
    ///   - name: The client's name in the log.
    ///   - isExtra: Whether the client exceeds the client limit of its share, and is admitted for ``patience`` only.
    ///   - onEnd: Called when the connection is closed.
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

    /// Adds a client without reading from it: the caller passes the client's input to ``hear(_:_:)``, and calls
    /// ``endInput(of:)`` at the end of input.
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

    /// Disconnects a client above the client limit after ``patience``, but not while one of its stop lines is in
    /// flight.
    private func endExtra(_ client: LineClient) {
        Task(executorPreference: loop) { [clock] in
            guard (try? await clock.sleep(for: Self.patience)) != nil else { return }
            await self.endTime(of: client)
        }
    }

    private func endTime(of client: LineClient) {
        guard clients[client.id] != nil else { return }
        // If a stop line of the client is in flight, give the client the same time again.
        if client.stopCount > 0 { endExtra(client) } else { turnAway(client) }
    }

    /// Disconnects a client above the client limit, with a notice of the reason if the family has one.
    func turnAway(_ client: LineClient) {
        if let notice = row.fullNotice { _ = client.tell(notice) }
        client.forgetLines()
        report(.dropped(client.name, LineClient.Offence.noPlace.rawValue))
        hangUp(client)
    }

    /// Handles the end of a client's input. A client that only shut down its sending direction still gets its pending
    /// replies.
    func endInput(of id: ClientID) {
        guard let client = clients[id] else { return }
        client.hasEnded = true
        if client.isOwedAnswer, client.channel.assumeIsolated({ $0.isOpen }) { return }
        hangUp(client)
    }

    /// Disconnects a client after its pending output was written, or after ``patience``.
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

    /// Removes a client at once; its pending output is discarded.
    private func leave(_ client: LineClient) {
        guard clients.removeValue(forKey: client.id) != nil else { return }
        client.fallSilent()
        report(.left(client.name))
        removeUser()
    }

    /// Drops a client's pending lines and disconnects the client. A client on a pseudo-terminal is not disconnected;
    /// its first offence is reported.
    func drop(_ client: LineClient, for offence: LineClient.Offence) {
        // The rest of a long line is still to come, and must be dropped as well.
        if offence == .longLine { client.forgetQueuedLines() } else { client.forgetLines() }
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
