extension BlueZ {
    /// Waits until bluetoothd runs and has the adapter, switched on: it looks at once, and whenever something has changed.
    ///
    /// - Parameter name: The name or address of an adapter; nil for any.
    /// - Throws: ``BLEError`` with ``BLEError/Code/cancelled``.
    public func waitForAdapter(_ name: String? = nil) async throws(BLEError) -> Adapter {
        // As long as it takes: a century will do.
        try await wait(.seconds(3_000_000_000), activity: "waiting for the adapter") {
            () -> Result<Adapter, BLEError>? in
            guard let adapter = try? self.adapter(name), adapter.isPowered else { return nil }
            return .success(adapter)
        }
    }

    /// The devices that bluetoothd knows of on an adapter, in sight or only remembered.
    ///
    /// - Parameter adapter: The name or address of an adapter; nil for the first that is on.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter`` or ``BLEError/Code/notRunning``.
    public func knownDevices(on adapter: String? = nil) throws(BLEError) -> [DeviceReport] {
        let path = try self.adapter(adapter).path
        return keeper.mirror.objects(with: BlueZName.device, below: path).compactMap { DeviceReport($1) }
    }

    /// The services that a device was found to have when it was connected; none where it was not, or is not known.
    ///
    /// - Parameter adapter: The name or address of an adapter; nil for the first that is on.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter`` or ``BLEError/Code/notRunning``.
    public func knownServices(
        of address: BluetoothAddress, on adapter: String? = nil
    ) throws(BLEError) -> [GATTService] {
        let place = try self.adapter(adapter).address
        return keeper.devicePath(address, on: place).map { keeper.mirror.services(of: $0) } ?? []
    }
}
