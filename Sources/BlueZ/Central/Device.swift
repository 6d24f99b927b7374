internal import DBus

/// A device, identified by its address and an adapter, whether it is in sight or not.
public struct Device: Sendable {
    /// The address of the device.
    public let address: BluetoothAddress
    /// The address of the adapter that reaches the device.
    public let adapter: BluetoothAddress
    let bluez: BlueZ

    /// The current report on the device; nil if bluetoothd does not know the device.
    public var report: DeviceReport? {
        get async { await bluez.report(of: address, on: adapter) }
    }

    /// Connects, and waits until the services are known, which is long after bluetoothd reports the device as
    /// connected.
    ///
    /// If the device is not in sight, this function scans for it. If the device is still connected, for example after a
    /// crash of a program, this function uses the connection (bluez#89). After errors that may be temporary, this
    /// function tries again.
    ///
    /// - Parameters:
    ///   - services: The services that the caller needs. Connecting fails if bluetoothd lists one of them for the
    ///     device, but never shows it.
    ///   - patience: The time limits.
    /// - Throws: ``BLEError`` with ``BLEError/Code/notFound`` if the device did not come in sight; otherwise mostly
    ///   ``BLEError/Code/disconnected``, ``BLEError/Code/timedOut``, ``BLEError/Code/busy``,
    ///   ``BLEError/Code/adapterOff``, ``BLEError/Code/adapterFull``, ``BLEError/Code/noAdapter``,
    ///   ``BLEError/Code/notRunning``, ``BLEError/Code/noBus``, ``BLEError/Code/failed`` or
    ///   ``BLEError/Code/cancelled``.
    public func connect(
        needing services: Set<BluetoothUUID> = [], patience: ConnectPatience = ConnectPatience()
    ) async throws(BLEError) -> ConnectedDevice {
        try await bluez.connect(to: self, needing: services, patience: patience)
    }

    /// Waits until the device is not connected.
    ///
    /// - Parameter limit: The time limit.
    /// - Returns: true if the device is not connected, or bluetoothd does not run; false at the time limit, or if the
    ///   task is cancelled.
    @discardableResult
    public func waitUntilDisconnected(within limit: Duration) async -> Bool {
        await bluez.waitUntilDisconnected(self, within: limit)
    }

    /// The GUID of bluetoothd's bus.
    package var bus: String { get async { await bluez.bus.busID } }

    /// The clock for time-outs and pauses.
    package var clock: any Clock<Duration> { bluez.clock }

    /// Pairs with the device, without showing or entering anything at this computer. Waits for up to 60 s, since a
    /// person at the device may have to agree. Returns at once if the device is paired.
    ///
    /// - Throws: ``BLEError``, for example with ``BLEError/Code/notPaired`` if the device refused, or
    ///   ``BLEError/Code/notFound`` if bluetoothd does not know the device.
    public func pair() async throws(BLEError) { try await bluez.pair(with: self) }
}

extension BlueZ {
    /// Returns the device with an address. The device need not be in sight.
    ///
    /// - Parameters:
    ///   - address: The address of the device.
    ///   - adapter: The name or address of an adapter; nil for the default: see ``adapter(_:)``.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/notRunning`` or
    ///   ``BLEError/Code/noBus``.
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
