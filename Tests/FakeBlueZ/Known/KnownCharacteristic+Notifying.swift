internal import DBus

/// Subscribing.
extension KnownCharacteristic {
    func startNotifying(_ client: String) async throws {
        if notifySocket != nil { throw BlueZError.notPermitted("Notify acquired") }
        guard canNotify else { throw BlueZError.notSupported }
        switch subscriptions[client] {
        case .active?: return
        case .beginning?: throw BlueZError.inProgress
        case nil: break
        }
        guard device.link != nil else {
            // The subscription takes effect when there is a link.
            return subscriptions[client] = .active
        }
        let link = try device.radio.manners.letsUnpairedSubscribe ? anyLink() : requireLink()
        if !device.radio.manners.subscribeErrors.isEmpty { throw device.radio.manners.subscribeErrors.removeFirst() }
        let isFirst = subscriptions.isEmpty
        subscriptions[client] = .beginning
        do {
            // Notifications that arrive during this call are signalled before the client has its reply: they are early.
            if isFirst || !link.isSubscribed(to: radio) { try await link.subscribe(to: radio) }
        } catch {
            subscriptions[client] = nil
            throw error
        }
        guard subscriptions[client] != nil else { return }
        subscriptions[client] = .active
        set("Notifying", .boolean(true))
    }

    func stopNotifying(_ client: String) async throws {
        guard subscriptions.removeValue(forKey: client) != nil else {
            throw BlueZError.failed("No notify session started")
        }
        await unsubscribeIfUnused()
    }

    func forget(client: String) {
        guard subscriptions.removeValue(forKey: client) != nil else { return }
        Radio.begin { await self.unsubscribeIfUnused() }
    }

    private func unsubscribeIfUnused() async {
        guard subscriptions.isEmpty else { return }
        set("Notifying", .boolean(false))
        await device.link?.unsubscribe(from: radio)
    }

    /// Gives a client a socket for notifications, and subscribes. Values that arrive before the device has confirmed
    /// the subscription are lost (bleak#1885).
    func acquireNotify(_ client: String) async throws -> [DBusValue] {
        let link = try requireLink()
        if notifySocket != nil { throw BlueZError.notPermitted("Notify acquired") }
        guard subscriptions.isEmpty else { throw BlueZError.inProgress }
        guard canNotify else { throw BlueZError.notSupported }
        let (socket, theirs) = try AcquiredSocket.open { [weak self] in
            self?.notifySocket = nil
            self?.set("NotifyAcquired", .boolean(false))
            guard let self, let link = device.link else { return }
            Radio.begin { await link.unsubscribe(from: self.radio) }
        }
        socket.isOpenToSend = false
        notifySocket = socket
        set("NotifyAcquired", .boolean(true))
        do {
            try await link.subscribe(to: radio)
        } catch {
            socket.close()
            throw error
        }
        socket.isOpenToSend = true
        return [.unixFD(theirs), .uint16(UInt16(link.mtu))]
    }
}
