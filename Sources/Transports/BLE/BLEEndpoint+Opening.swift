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
        let addresses = try await BLESearch(self).addresses(with: bluez, endpoint: endpoint)
        for address in addresses {
            let known: Device
            do throws(BLEError) { known = try await bluez.device(address, on: adapter) } catch {
                throw LinkError(error, name: endpoint.text)
            }
            let claim = try await BLEClaim.take(known, as: use, in: locks, name: endpoint.text)
            do throws(LinkError) {
                if let link = try await open(known, claim, endpoint, with: bluez, as: use) { return link }
                claim.release(isDisconnecting: true)
            } catch {
                claim.release(isDisconnecting: error.code != .busy)
                throw error
            }
        }
        throw LinkError(
            .notFound, name: endpoint.text, activity: "find", detail: "it has not the characteristics that are needed",
            hint: "name another device, or its kind: "
                + GATTProfile.all.map { "?profile=\($0.name)" }.joined(separator: " "))
    }

    /// Opens the link to a device that is this program's; nil where it is none that was asked for, which is disconnected.
    private func open(
        _ known: Device, _ claim: BLEClaim, _ endpoint: Endpoint, with bluez: BlueZ, as use: BLEUse
    ) async throws(LinkError) -> (any Link)? {
        let device: ConnectedDevice
        do throws(BLEError) { device = try await known.connect() } catch { throw failure(error, known, endpoint) }
        guard let route = route(in: device.services) else {
            await disconnect(device, as: use)
            return nil
        }
        let other = await device.firstHeardElsewhere(of: route)
        if let other, !sharesValues {
            await device.leave()
            throw LinkError(heardElsewhere: other, known.address, claim, name: endpoint.text)
        }
        do throws(BLEError) {
            if pairs { try await known.pair() }
            return try await BLELink(
                device, route, of: bluez, claim, closing: BLELink.Closing(use, isHeardElsewhere: other != nil),
                name: endpoint.text)
        } catch {
            // To disconnect it would cut off whoever has it.
            if error.code == .busy { await device.leave() } else { await disconnect(device, as: use) }
            throw failure(error, known, endpoint)
        }
    }

    private func disconnect(_ device: ConnectedDevice, as use: BLEUse) async {
        if use.closesAtOnce { await device.beginDisconnecting() } else { await device.disconnect() }
    }

    private func failure(_ error: BLEError, _ device: Device, _ endpoint: Endpoint) -> LinkError {
        var failure = LinkError(error, name: endpoint.text)
        if error.code == .notPaired { failure.hint = hint(toPairWith: device.address) }
        return failure
    }

    private func hint(toPairWith address: BluetoothAddress) -> String {
        pairs
            ? "it wants to be agreed with by a person: bluetoothctl pair \(address)"
            : "pair with it: ?pair behind the endpoint, or bluetoothctl pair \(address)"
    }
}
