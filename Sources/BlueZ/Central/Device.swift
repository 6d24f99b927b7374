internal import DBus

/// A device by its address, whether it is there or not.
public struct Device: Sendable {
    public let address: BluetoothAddress
    /// The adapter that it is to be reached by.
    public let adapter: BluetoothAddress
    let bluez: BlueZ

    /// What is known of it now; nil where bluetoothd does not know it.
    public var report: DeviceReport? {
        get async { await bluez.report(of: address, on: adapter) }
    }

    /// Connects to it and waits until its services are known: bluetoothd calls it connected long before.
    ///
    /// A device that is not in sight is scanned for. One that is still connected, as a program that crashed leaves it, is
    /// taken as it is (bluez#89). What fails is tried again, as often as it makes sense.
    ///
    /// - Parameters:
    ///   - services: What is of no use without these, as far as the device has them by bluetoothd's word.
    ///   - patience: How long it may take.
    /// - Throws: ``BLEError`` with ``BLEError/Code/notFound`` where it did not come in sight,
    ///   ``BLEError/Code/disconnected``, ``BLEError/Code/timedOut``, ``BLEError/Code/busy``,
    ///   ``BLEError/Code/adapterOff``, ``BLEError/Code/noAdapter``, ``BLEError/Code/notRunning``,
    ///   ``BLEError/Code/failed`` or ``BLEError/Code/cancelled``.
    public func connect(
        needing services: Set<BluetoothUUID> = [], patience: ConnectPatience = ConnectPatience()
    ) async throws(BLEError) -> ConnectedDevice {
        try await bluez.connect(to: self, needing: services, patience: patience)
    }

    /// Waits until it is not connected, at most so long.
    ///
    /// - Returns: Whether it is not connected; false as well where the task was cancelled.
    @discardableResult
    public func waitUntilDisconnected(within limit: Duration) async -> Bool {
        await bluez.waitUntilDisconnected(self, within: limit)
    }

    /// What tells the bus of this bluetoothd from others.
    package var bus: String { get async { await bluez.bus.busID } }

    /// What waits are measured by.
    package var clock: any Clock<Duration> { bluez.clock }

    /// Pairs with it, with nothing to show or to type at this end.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/notPaired`` where the device refused.
    public func pair() async throws(BLEError) { try await bluez.pair(with: self) }
}

extension BlueZ {
    /// A device of an adapter.
    ///
    /// - Parameter adapter: The name or address of an adapter; nil for the first that is on.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter`` or ``BLEError/Code/notRunning``.
    public func device(_ address: BluetoothAddress, on adapter: String? = nil) throws(BLEError) -> Device {
        Device(address: address, adapter: try self.adapter(adapter).address, bluez: self)
    }

    func waitUntilDisconnected(_ device: Device, within limit: Duration) async -> Bool {
        let keeper = keeper
        do throws(BLEError) {
            try await wait(limit, activity: "waiting for \(device.address) to be disconnected") {
                () -> Result<Void, BLEError>? in
                let path = keeper.devicePath(device.address, on: device.adapter)
                return keeper.isConnected(path) ? nil : .success(())
            }
            return true
        } catch {
            return false
        }
    }

    func report(of address: BluetoothAddress, on adapter: BluetoothAddress) -> DeviceReport? {
        keeper.devicePath(address, on: adapter).flatMap { keeper.mirror[$0, BlueZName.device] }.flatMap {
            DeviceReport($0)
        }
    }
}
