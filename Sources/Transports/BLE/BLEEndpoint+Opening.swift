internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol

extension BLEEndpoint {
    /// Opens the link of `ble:…`, over a connection to bluetoothd of its own (bleak#83, bleak#2002).
    ///
    /// - Parameter memory: What keeps to which device a name led.
    static func open(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus = .system, clock: (any Clock<Duration>)? = nil,
        memory: (any BLENameMemory)? = nil
    ) async throws(LinkError) -> any Link {
        let wanted = try BLEEndpoint(endpoint)
        let bluez: BlueZ
        do throws(BLEError) { bluez = try await BlueZ.open(bus, on: loop, clock: clock) } catch {
            throw LinkError(error, name: endpoint.text)
        }
        do throws(LinkError) {
            return try await wanted.open(endpoint, with: bluez, memory)
        } catch {
            await bluez.close()
            throw error
        }
    }

    private func open(
        _ endpoint: Endpoint, with bluez: BlueZ, _ memory: (any BLENameMemory)?
    ) async throws(LinkError) -> any Link {
        let addresses = try await BLESearch(self, memory: memory).addresses(with: bluez, endpoint: endpoint)
        var foreign: GATTProfile?
        for address in addresses {
            let pairing = PairingAdvice(address: address, wasAskedFor: pairs)
            do throws(BLEError) {
                let known = try await bluez.device(address, on: adapter)
                let device = try await known.connect()
                // It may have what looks like a serial port as well, over which it would be sent what it must not be.
                let profile = foreignProfile(in: device.services)
                foreign = foreign ?? profile
                guard profile == nil, let route = route(in: device.services) else {
                    await device.disconnect()
                    continue
                }
                do throws(BLEError) {
                    if pairs { try await known.pair() }
                    let link = try await BLELink(device, route, of: bluez, name: endpoint.text, pairing)
                    remember(device, memory)
                    return link
                } catch {
                    await device.disconnect()
                    throw error
                }
            } catch {
                throw LinkError(error, name: endpoint.text, pairing: pairing)
            }
        }
        if let foreign { throw Self.wrongFamily(foreign, endpoint) }
        throw LinkError(
            .notFound, name: endpoint.text, activity: "find", detail: "it has not the characteristics that are needed",
            hint: "name another device, or its kind: "
                + GATTProfile.all.map { "?profile=\($0.name)" }.joined(separator: " "))
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
