internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol

extension BLEEndpoint {
    /// Returns an opener of `ble:` endpoints for ``LinkSchemes/add(_:_:)``.
    ///
    /// - Parameter use: The way in which the program uses BLE devices.
    public static func opener(_ use: BLEUse) -> LinkSchemes.Opener {
        { endpoint, loop throws(LinkError) in try await open(endpoint, on: loop, as: use) }
    }

    /// Opens the link of a `ble:` endpoint over a separate connection to bluetoothd (bleak#83, bleak#2002).
    static func open(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus = .system, clock: (any Clock<Duration>)? = nil,
        as use: BLEUse = BLEUse(), locks: DeviceLocks = .system
    ) async throws(LinkError) -> any Link {
        try await BLEOpening.run(endpoint, on: loop, bus: bus, clock: clock, as: use, locks: locks) {
            opening throws(LinkError) in
            try await opening.link()
        }
    }
}

extension BLEOpening {
    /// Opens a link to the first suitable device among those that the endpoint may mean.
    func link() async throws(LinkError) -> any Link {
        use.onStep?(.searching)
        let addresses = try await search.addresses(with: bluez, endpoint: endpoint)
        var foreign: GATTProfile?
        var unfit: [GATTService] = []
        for address in addresses {
            let known = try await device(at: address)
            let claim = try await claim(known)
            do throws(LinkError) {
                switch try await open(known, claim) {
                case .link(let link): return link
                case .foreign(let profile): foreign = foreign ?? profile
                case .unfit(let services): unfit = unfit.isEmpty ? services : unfit
                }
                claim.release(isDisconnecting: true)
            } catch {
                claim.release(isDisconnecting: error.code != .busy)
                throw error
            }
        }
        if let foreign { throw wrongFamily(foreign) }
        throw LinkError(unfit: unfit, for: wanted, name: endpoint.text)
    }

    /// Returns the device with this address, as the endpoint's adapter reaches it.
    func device(at address: BluetoothAddress) async throws(LinkError) -> Device {
        do throws(BLEError) { return try await bluez.device(address, on: wanted.adapter) } catch {
            throw LinkError(error, name: endpoint.text)
        }
    }

    /// The result of connecting to a device. Unsuitable devices are disconnected.
    private enum Finding {
        case link(BLELink)
        /// The device is of another family than the endpoint asks for.
        case foreign(GATTProfile)
        /// The device has these services, but lacks the required characteristics.
        case unfit([GATTService])
    }

    /// The pause before the device is connected again; chosen, not measured.
    private static let pause = Duration.milliseconds(250)

    /// Opens the link to a claimed device. If the failure may pass (``LinkError/mayPass``), the function connects once
    /// more, or again and again if ``BLEUse/isPersistent``.
    private func open(_ known: Device, _ claim: BLEClaim) async throws(LinkError) -> Finding {
        let pairing = PairingAdvice(address: known.address, wasAskedFor: wanted.pairs)
        var isFirst = true
        while true {
            let device = try await connect(known, pairing)
            do throws(LinkError) { return try await finding(device, known, claim, pairing) } catch {
                guard error.mayPass, isFirst || use.isPersistent else { throw error }
                await known.waitUntilDisconnected(within: within(BLEClaim.disconnecting))
                // Give up if the time limit leaves less than the pause, or the task is cancelled.
                guard within(Self.pause) == Self.pause, (try? await bluez.clock.sleep(for: Self.pause)) != nil else {
                    throw error
                }
            }
            isFirst = false
        }
    }

    /// Examines a connected device, and opens the link if the device is suitable.
    private func finding(
        _ device: ConnectedDevice, _ known: Device, _ claim: BLEClaim, _ pairing: PairingAdvice
    ) async throws(LinkError) -> Finding {
        // A device of another family may also have a serial port, over which it would receive the commands of this
        // family.
        let foreign = wanted.foreignProfile(in: device.services)
        guard foreign == nil, let route = wanted.route(in: device.services) else {
            let services = device.services
            await disconnect(device)
            return foreign.map { .foreign($0) } ?? .unfit(services)
        }
        let other = await device.firstHeardElsewhere(of: route)
        if let other, !wanted.sharesValues {
            await device.leave()
            throw LinkError(heardElsewhere: other, known.address, claim, name: endpoint.text)
        }
        let closing = BLELink.Closing(use, isHeardElsewhere: other != nil)
        do throws(LinkError) {
            try await pair(known, pairing)
            use.onStep?(.subscribing(known.address))
            let link = try await finish(
                { [bluez, endpoint] () throws(BLEError) in
                    try await BLELink(
                        device, route, of: bluez, claim, closing: closing, name: endpoint.text, pairing)
                }, pairing)
            remember(device)
            return .link(link)
        } catch {
            // Disconnecting would cut off the program that uses the device.
            if error.code == .busy { await device.leave() } else { await disconnect(device) }
            throw error
        }
    }

    /// Pairs with the device if the endpoint asks for pairing.
    func pair(_ known: Device, _ pairing: PairingAdvice) async throws(LinkError) {
        guard wanted.pairs else { return }
        use.onStep?(.pairing(known.address))
        try await finish({ () throws(BLEError) in try await known.pair() }, pairing)
    }

    /// Disconnects a device to which no link was opened. With ``BLEUse/closesAtOnce``, does not wait for the end of the
    /// disconnection.
    func disconnect(_ device: ConnectedDevice) async {
        if use.closesAtOnce { await device.beginDisconnecting() } else { await device.disconnect() }
    }

    private func wrongFamily(_ profile: GATTProfile) -> LinkError {
        let family = profile.families.first
        return LinkError(
            .wrongFamily, name: endpoint.text, activity: "open",
            detail: "\(profile.deviceKind ?? "an unknown device")" + (family.map { " (family \($0))" } ?? ""),
            remedy: family.map { .useAs(family: $0) })
    }

    /// Remembers the device under the name in the endpoint, if its address is stable.
    func remember(_ device: ConnectedDevice) {
        // Remember the name as the endpoint has it: the name that the device reports may change after connecting.
        guard case .name(let name) = wanted.target, device.hasStableAddress else { return }
        use.memory?.remember(device.address, as: name)
    }
}

extension LinkError {
    /// Whether another connection may help: the device is not in use elsewhere, and no action of a person is needed.
    fileprivate var mayPass: Bool { [.disconnected, .notFound, .system, .timedOut, .unsupported].contains(code) }
}
