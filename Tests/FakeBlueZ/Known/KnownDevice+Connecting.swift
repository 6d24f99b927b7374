internal import DBus

/// Connecting and disconnecting.
extension KnownDevice {
    /// Connects. Returns as soon as there is a link; the services are resolved later.
    func connect() async throws {
        try adapter.requirePower()
        guard attempt == nil else { throw BlueZError.inProgress }
        if link != nil { return }
        stopForgetting()
        let attempt = Radio.begin { [radio, timeline = bluez.timeline] in
            let manners = radio.manners
            let error = manners.connectErrors.first
            if error != nil { radio.manners.connectErrors.removeFirst() }
            try await timeline.pause(manners.connectDelay)
            if let error { throw error }
            if radio.isReachable { return }
            let patience = timeline.after(manners.patience) { [weak self] in self?.attempt?.cancel() }
            defer { patience.cancel() }
            try await radio.untilReachable()
        }
        self.attempt = attempt
        let result = await attempt.result
        self.attempt = nil
        do {
            try result.get()
            try adapter.requirePower()
            // The device may have connected to this adapter during the attempt.
            if link == nil { establish() }
        } catch {
            forgetLater()
            // Cancelled, disconnected, or switched off while connecting.
            throw error is CancellationError ? BlueZError.abortedByLocal : error
        }
    }

    /// Disconnects. The reply comes before the resulting signals: bleak relies on this order, because it closes its bus
    /// connection as soon as it receives them.
    ///
    /// This ends the link for all clients, and continues even if the calling client leaves the bus.
    func disconnect() async throws {
        guard attempt != nil || isConnected else { throw BlueZError.notConnected }
        let ending = (link, incoming)
        if attempt == nil { try await bluez.timeline.pause(radio.manners.disconnectDelay) }
        Radio.begin {
            await Radio.idle()
            // Don't end a link that was made since.
            if self.link === ending.0, self.incoming === ending.1 { self.lose() }
        }
    }

    private func makeLink() -> RadioLink {
        let link = RadioLink(from: adapter.address, to: radio, timeline: bluez.timeline)
        link.onArrival = { [weak self] characteristic, bytes in
            self?.known(characteristic)?.arrive(bytes)
        }
        link.onServiceChange = { [weak self] in self?.lookAgain(link) }
        link.onDrop { [weak self, weak link] in
            if let self, self.link === link { ended() }
        }
        self.link = link
        return link
    }

    /// Adds a link from the adapter to the device over a connection that the device has made. When one of the two ends,
    /// the other ends too.
    func establish(over incoming: RadioLink) {
        let link = makeLink()
        link.onDrop { incoming.drop() }
        incoming.onDrop { link.drop() }
        resolution = Radio.begin { await self.resolve(link) }
    }

    /// Begins a new link.
    func establish() {
        let link = makeLink()
        stopForgetting()
        guard radio.manners.answersBeforeConnected else { return tell(of: link) }
        Radio.begin {
            await Radio.idle()
            if self.link === link { self.tell(of: link) }
        }
    }

    /// Signals a new link. If the device is another adapter of the fake, that adapter is also connected.
    private func tell(of link: RadioLink) {
        set("Connected", .boolean(true))
        bluez.adapter(at: address)?.accept(link, from: adapter)
        resolution = Radio.begin {
            // The reply to `Connect` comes first.
            await Radio.idle()
            await self.resolve(link)
        }
    }

    private func ended() {
        link = nil
        resolution?.cancel()
        resolution = nil
        for characteristic in services.flatMap(\.characteristics) { characteristic.linkEnded() }
        set("ServicesResolved", .boolean(false))
        set("Connected", .boolean(isConnected))
        forgetLater()
    }

    // MARK: Services

    /// The known characteristic of a radio's characteristic; nil if it was not discovered yet, or has been removed.
    private func known(_ characteristic: RadioCharacteristic) -> KnownCharacteristic? {
        for service in services {
            if let known = service.characteristics.first(where: { $0.radio === characteristic }) { return known }
        }
        return nil
    }

    private func resolve(_ link: RadioLink) async {
        guard (try? await bluez.timeline.pause(radio.manners.resolveDelay)) != nil, link.isUp else { return }
        findServices()
        for characteristic in services.flatMap(\.characteristics) { characteristic.showMTU(of: link) }
        if radio.manners.exportDelay > .zero {
            set("UUIDs", .strings(radio.advertisement.services))
            set("ServicesResolved", .boolean(true))
            guard (try? await bluez.timeline.pause(radio.manners.exportDelay)) != nil, link.isUp else { return }
            set("UUIDs", .strings(radio.services.map(\.uuid)))
        }
        await BusObject.publish(services.flatMap(\.objects))
        guard link.isUp else { return }
        for characteristic in services.flatMap(\.characteristics) { await characteristic.linkBegan(link) }
        guard link.isUp else { return }
        set("ServicesResolved", .boolean(true))
    }

    /// Handles a change of the device's services: removes the objects of old services and adds objects for new ones.
    private func lookAgain(_ link: RadioLink) {
        guard object?.value("ServicesResolved", of: BlueZName.device)?.boolean == true else { return }
        resolution = Radio.begin {
            self.findServices()
            for characteristic in self.services.flatMap(\.characteristics) { characteristic.showMTU(of: link) }
            await BusObject.publish(self.services.flatMap(\.objects))
        }
    }

    /// Discovers the services, at the first connection and after a change.
    private func findServices() {
        if services.map({ ObjectIdentifier($0.radio) }) == radio.services.map(ObjectIdentifier.init) { return }
        let known = services
        services = []
        for service in known where !radio.services.contains(where: { $0 === service.radio }) { service.withdraw() }
        guard let tree = bluez.tree else { return }
        var handle = known.last.map { $0.lastHandle + 1 } ?? 0x0001
        for service in radio.services {
            if let known = known.first(where: { $0.radio === service }) {
                services.append(known)
                continue
            }
            let known = KnownService(service, of: self, handle: handle, in: tree)
            handle = known.lastHandle + 1
            services.append(known)
        }
        set("UUIDs", .strings(radio.services.map(\.uuid)))
    }
}
