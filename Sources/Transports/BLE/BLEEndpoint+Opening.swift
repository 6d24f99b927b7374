internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol

extension BLEEndpoint {
    /// Opens the link of `ble:…`, over a connection to bluetoothd of its own (bleak#83, bleak#2002).
    static func open(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus = .system, clock: (any Clock<Duration>)? = nil
    ) async throws(LinkError) -> any Link {
        let wanted = try BLEEndpoint(endpoint)
        let bluez: BlueZ
        do throws(BLEError) { bluez = try await BlueZ.open(bus, on: loop, clock: clock) } catch {
            throw LinkError(error, name: endpoint.text)
        }
        do throws(LinkError) {
            return try await wanted.open(endpoint, with: bluez)
        } catch {
            await bluez.close()
            throw error
        }
    }

    private func open(_ endpoint: Endpoint, with bluez: BlueZ) async throws(LinkError) -> any Link {
        let addresses = try await BLESearch(self).addresses(with: bluez, endpoint: endpoint)
        for address in addresses {
            do throws(BLEError) {
                let known = try await bluez.device(address, on: adapter)
                let device = try await known.connect()
                guard let route = route(in: device.services) else {
                    await device.disconnect()
                    continue
                }
                do throws(BLEError) {
                    if pairs { try await known.pair() }
                    return try await BLELink(device, route, of: bluez, name: endpoint.text)
                } catch {
                    await device.disconnect()
                    throw error
                }
            } catch {
                var failure = LinkError(error, name: endpoint.text)
                if error.code == .notPaired { failure.hint = hint(toPairWith: address) }
                throw failure
            }
        }
        throw LinkError(
            .notFound, name: endpoint.text, activity: "find", detail: "it has not the characteristics that are needed",
            hint: "name another device, or its kind: "
                + GATTProfile.all.map { "?profile=\($0.name)" }.joined(separator: " "))
    }

    private func hint(toPairWith address: BluetoothAddress) -> String {
        pairs
            ? "it wants to be agreed with by a person: bluetoothctl pair \(address)"
            : "pair with it: ?pair behind the endpoint, or bluetoothctl pair \(address)"
    }
}
