extension BlueZ {
    /// Waits until bluetoothd runs and an adapter is powered. Only cancelling the task ends the wait early; ``close()``
    /// does not.
    ///
    /// - Parameter name: The name or address of an adapter; nil for any.
    /// - Returns: The adapter.
    /// - Throws: ``BLEError`` with ``BLEError/Code/cancelled``.
    public func waitForAdapter(_ name: String? = nil) async throws(BLEError) -> Adapter {
        // No limit: 95 years.
        try await wait(.seconds(3_000_000_000), activity: "waiting for the adapter") {
            () -> Result<Adapter, BLEError>? in
            guard let adapter = try? self.adapter(name), adapter.isPowered else { return nil }
            return .success(adapter)
        }
    }

    /// Returns the devices that bluetoothd knows on an adapter, in sight or only remembered.
    ///
    /// - Parameter adapter: The name or address of an adapter; nil for the default: see ``adapter(_:)``.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/notRunning`` or
    ///   ``BLEError/Code/noBus``.
    public func knownDevices(on adapter: String? = nil) throws(BLEError) -> [DeviceReport] {
        let path = try self.adapter(adapter).path
        return keeper.mirror.objects(with: BlueZName.device, below: path).compactMap { DeviceReport($1) }
    }

    /// Returns the services that bluetoothd remembers of a device; empty if the device was never connected, or is
    /// unknown.
    ///
    /// - Parameters:
    ///   - address: The address of the device.
    ///   - adapter: The name or address of an adapter; nil for the default: see ``adapter(_:)``.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/notRunning`` or
    ///   ``BLEError/Code/noBus``.
    public func knownServices(
        of address: BluetoothAddress, on adapter: String? = nil
    ) throws(BLEError) -> [GATTService] {
        let place = try self.adapter(adapter).address
        return keeper.devicePath(address, on: place).map { keeper.mirror.services(of: $0) } ?? []
    }
}
