internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol

extension BLEEndpoint {
    /// What opens links of `ble:…` for a program that uses devices so, for ``LinkSchemes/add(_:_:)``.
    public static func opener(_ use: BLEUse) -> LinkSchemes.Opener {
        { endpoint, loop throws(LinkError) in try await open(endpoint, on: loop, as: use) }
    }

    /// Opens the link of `ble:…`, over a connection to bluetoothd of its own (bleak#83, bleak#2002).
    static func open(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus = .system, clock: (any Clock<Duration>)? = nil,
        as use: BLEUse = BLEUse(), locks: DeviceLocks = .system
    ) async throws(LinkError) -> any Link {
        let wanted = try BLEEndpoint(endpoint)
        let bluez: BlueZ
        do throws(BLEError) { bluez = try await BlueZ.open(bus, on: loop, clock: clock) } catch {
            throw LinkError(error, name: endpoint.text)
        }
        do throws(LinkError) {
            return try await wanted.open(endpoint, with: bluez, as: use, locks)
        } catch {
            await bluez.close()
            throw error
        }
    }

    private func open(
        _ endpoint: Endpoint, with bluez: BlueZ, as use: BLEUse, _ locks: DeviceLocks
    ) async throws(LinkError) -> any Link {
        let addresses = try await BLESearch(self, memory: use.memory).addresses(with: bluez, endpoint: endpoint)
        var foreign: GATTProfile?
        for address in addresses {
            let known: Device
            do throws(BLEError) { known = try await bluez.device(address, on: adapter) } catch {
                throw LinkError(error, name: endpoint.text)
            }
            let claim = try await BLEClaim.take(known, as: use, in: locks, name: endpoint.text)
            do throws(LinkError) {
                switch try await open(known, claim, endpoint, with: bluez, as: use) {
                case .link(let link): return link
                case .foreign(let profile): foreign = foreign ?? profile
                case .unfit: break
                }
                claim.release(isDisconnecting: true)
            } catch {
                claim.release(isDisconnecting: error.code != .busy)
                throw error
            }
        }
        if let foreign { throw Self.wrongFamily(foreign, endpoint) }
        throw LinkError(
            .notFound, name: endpoint.text, activity: "find", detail: "it has not the characteristics that are needed",
            hint: "name another device, or its kind: "
                + GATTProfile.all.map { "?profile=\($0.name)" }.joined(separator: " "))
    }

    /// What a device turned out to be once it was connected. One that is no use is disconnected.
    private enum Finding {
        case link(BLELink)
        /// It is of a family that was not asked for.
        case foreign(GATTProfile)
        /// It has not the characteristics that are needed.
        case unfit
    }

    /// Opens the link to a device that is this program's.
    private func open(
        _ known: Device, _ claim: BLEClaim, _ endpoint: Endpoint, with bluez: BlueZ, as use: BLEUse
    ) async throws(LinkError) -> Finding {
        let pairing = PairingAdvice(address: known.address, wasAskedFor: pairs)
        let device: ConnectedDevice
        do throws(BLEError) { device = try await known.connect() } catch {
            throw LinkError(error, name: endpoint.text, pairing: pairing)
        }
        // It may have what looks like a serial port as well, over which it would be sent what it must not be.
        let foreign = foreignProfile(in: device.services)
        guard foreign == nil, let route = route(in: device.services) else {
            await disconnect(device, as: use)
            return foreign.map { .foreign($0) } ?? .unfit
        }
        let other = await device.firstHeardElsewhere(of: route)
        if let other, !sharesValues {
            await device.leave()
            throw LinkError(heardElsewhere: other, known.address, claim, name: endpoint.text)
        }
        do throws(BLEError) {
            if pairs { try await known.pair() }
            let link = try await BLELink(
                device, route, of: bluez, claim, closing: BLELink.Closing(use, isHeardElsewhere: other != nil),
                name: endpoint.text, pairing)
            remember(device, use.memory)
            return .link(link)
        } catch {
            // To disconnect it would cut off whoever has it.
            if error.code == .busy { await device.leave() } else { await disconnect(device, as: use) }
            throw LinkError(error, name: endpoint.text, pairing: pairing)
        }
    }

    private func disconnect(_ device: ConnectedDevice, as use: BLEUse) async {
        if use.closesAtOnce { await device.beginDisconnecting() } else { await device.disconnect() }
    }

    private static func wrongFamily(_ profile: GATTProfile, _ endpoint: Endpoint) -> LinkError {
        LinkError(
            .wrongFamily, name: endpoint.text, activity: "open",
            detail: "it is \(profile.deviceKind ?? "another device") (family \(profile.family))",
            hint: "use a command of the family \(profile.family), or --family \(profile.family)")
    }

    private func remember(_ device: ConnectedDevice, _ memory: (any BLENameMemory)?) {
        // As it was asked for: what the device calls itself may change once it is connected.
        guard case .name(let name) = target, device.hasStableAddress else { return }
        memory?.remember(device.address, as: name)
    }
}
