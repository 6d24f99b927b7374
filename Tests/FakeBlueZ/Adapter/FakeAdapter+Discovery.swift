internal import DBus

/// Device discovery.
extension FakeAdapter {
    /// The time for which a device that need not be kept stays known: see ``KnownDevice/forgetLater()``. bluetoothd's
    /// default for `TemporaryTimeout` in main.conf.
    static let memory = Duration.seconds(30)

    /// Starts a client's discovery, with the filter that the client has set. Returns when `StartDiscovery` is to be
    /// answered: at once if ``discoveryDelay`` is zero, or if a discovery with an equal filter is running, so that the
    /// adapter need not change anything; otherwise when ``begin(for:)`` returns.
    ///
    /// - Throws: `NotReady`; `InProgress` if the client has a discovery.
    func startDiscovery(for client: String) async throws {
        try requirePower()
        guard discoveries[client] == nil else { throw BlueZError.inProgress }
        let filter = filters[client] ?? DiscoveryFilter()
        let isUnderWay = isDiscovering && discoveries.values.contains(filter)
        discoveries[client] = filter
        if !isUnderWay && discoveryDelay > .zero { try await begin(for: client) }
        discoveryChanged()
        listen()
    }

    /// Begins discovery after ``discoveryDelay``. bluetoothd remembers only one client to answer then, the last that
    /// called. The calls of the others stay unanswered until the discovery is ended for all, or the client leaves the
    /// bus.
    private func begin(for client: String) async throws {
        answered = client
        let beginning =
            beginning
            ?? bluez.timeline.after(discoveryDelay) { [weak self] in
                self?.beginning = nil
                self?.discoveryChanged()
                self?.listen()
            }
        self.beginning = beginning
        await beginning.value
        if answered != client, discoveries[client] != nil {
            await withCheckedContinuation { unanswered[client] = $0 }
        }
        try requirePower()
    }

    func stopDiscovery(for client: String) throws(DBusError) {
        try requirePower()
        guard discoveries[client] != nil else { throw BlueZError.failed("No discovery started") }
        guard unanswered[client] == nil else { throw BlueZError.inProgress }
        discoveries[client] = nil
        discoveryChanged()
    }

    /// Sets a client's filter, also that of its running discovery. Without properties, removes the filter.
    func setFilter(_ properties: [String: DBusValue], for client: String) throws(DBusError) {
        try requirePower()
        let filter = properties.isEmpty ? nil : try DiscoveryFilter(properties)
        filters[client] = filter
        guard discoveries[client] != nil else { return }
        discoveries[client] = filter ?? DiscoveryFilter()
        listen()
    }

    /// Whether discovery is running for any client; false while the adapter begins or changes one.
    public var isDiscovering: Bool { !discoveries.isEmpty && beginning == nil }

    /// Ends discovery for all clients.
    func endDiscovery() {
        beginning?.cancel()
        beginning = nil
        discoveries = [:]
        for call in unanswered.values { call.resume() }
        unanswered = [:]
        discoveryChanged()
    }

    /// Shows whether discovery is running. If it is not, no device is heard any longer.
    func discoveryChanged() {
        object?.set("Discovering", of: BlueZName.adapter, to: .boolean(isDiscovering))
        if !isDiscovering {
            for device in devices.values { device.stopHearing() }
        }
    }

    /// Applies the filters to every device in reach.
    private func listen() {
        for device in bluez.air { hear(device) }
    }

    /// Handles a change of a device or of the filters: the device is heard if any client's filter lets it through. All
    /// clients then get its signals, because bluetoothd merges their filters.
    func hear(_ device: RadioDevice) {
        guard isPowered, object != nil, device !== ownRadio else { return }
        let isHeard = device.isHeard && isDiscovering && discoveries.values.contains { $0.lets(device) }
        if isHeard {
            let filters = discoveries.values
            know(device).hear(
                everyChange: filters.contains { $0.signalStrength != nil || $0.pathLoss != nil },
                repeats: filters.contains(where: \.wantsDuplicates))
        } else {
            devices[device.address]?.stopHearing()
        }
    }

    /// Returns the known device with the address of a radio device; adds one if there is none.
    func know(_ device: RadioDevice) -> KnownDevice {
        if let known = devices[device.address] {
            known.radio = device
            return known
        }
        let known = KnownDevice(device, on: self)
        devices[device.address] = known
        return known
    }

    /// Adds a device and connects to it without a client's call: see ``LinkManners/isConnectedAlready``.
    func inherit(_ device: RadioDevice) async {
        guard object != nil else { return }
        let known = know(device)
        await known.publish()
        known.establish()
    }
}
