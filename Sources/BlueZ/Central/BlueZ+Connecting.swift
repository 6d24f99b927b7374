internal import DBus

extension BlueZ {
    /// Looks for a device and connects, with retries, within the limits of `patience`: see
    /// ``Device/connect(needing:patience:)``.
    func connect(
        to device: Device, needing services: Set<BluetoothUUID>, patience: ConnectPatience
    ) async throws(BLEError) -> ConnectedDevice {
        let watch = Stopwatch(clock)
        var retries = ConnectRetries()
        var mustScan = false
        while true {
            let rest = patience.total - watch.elapsed
            do throws(BLEError) {
                let path = try await sight(device, mustScan: mustScan, within: min(rest, patience.search))
                // At least 1 ms, here and below: the rest of the time may be negative by now.
                let rest = min(patience.attempt, patience.total - watch.elapsed)
                return try await attempt(device, at: path, needing: services, within: max(rest, .milliseconds(1)))
            } catch {
                guard case .retry(let pause) = retries.next(after: error), watch.elapsed + pause < patience.total else {
                    throw error
                }
                // The device may have gone, although bluetoothd still knows it from an earlier scan.
                mustScan = error.code == .notFound || error.code == .timedOut
                // An abandoned attempt may leave a connection that is about to end, which the next attempt must not
                // get. bluetoothd takes up to 2 s to disconnect; 5 s leave a margin.
                if error.code == .timedOut {
                    let rest = min(patience.total - watch.elapsed, .seconds(5))
                    _ = await waitUntilDisconnected(device, within: max(rest, .milliseconds(1)))
                }
                try? await clock.sleep(for: pause)
                if Task.isCancelled { throw BLEError(.cancelled, activity: "connecting to \(device.address)") }
            }
        }
    }

    /// Returns the path of a device as soon as the device is in sight, or at once if an earlier scan has seen the
    /// device and bluetoothd has not forgotten it since, which it does after 30 s without advertisements (bleak#1176).
    ///
    /// - Parameter mustScan: Whether to ignore the results of earlier scans.
    /// - Throws: `notFound` if the device is not in sight after `rest`; the errors of scanning.
    private func sight(
        _ device: Device, mustScan: Bool, within rest: Duration
    ) async throws(BLEError) -> ObjectPath {
        let activity = "looking for \(device.address)"
        _ = try poweredAdapter(device.adapter, activity: activity)
        let keeper = keeper
        let find: () -> Result<ObjectPath, BLEError>? = {
            guard keeper.isComplete else { return .failure(keeper.absence(activity)) }
            guard let path = keeper.devicePath(device.address, on: device.adapter),
                let properties = keeper.mirror[path, BlueZName.device],
                DeviceReport(properties)?.isInSight == true || !mustScan && keeper.seen.contains(path)
            else { return nil }
            return .success(path)
        }
        if let found = find() { return try found.get() }
        let scan = try await scan(for: ScanFilter(address: device.address), on: "\(device.adapter)")
        defer { scan.cancel() }
        do throws(BLEError) { return try await wait(rest, activity: activity, until: find) } catch {
            guard error.code == .timedOut else { throw error }
            throw BLEError(
                .notFound, activity: activity,
                hint: "check that the device is switched on, near, and not connected to another host")
        }
    }

    /// Performs one attempt to connect, which succeeds only when the services are known.
    ///
    /// - Throws: `timedOut` after `patience`; `disconnected` if the device hangs up; `notFound`, with a D-Bus name, if
    ///   bluetoothd removes the device; the errors of bluetoothd.
    private func attempt(
        _ device: Device, at path: ObjectPath, needing services: Set<BluetoothUUID>, within patience: Duration
    ) async throws(BLEError) -> ConnectedDevice {
        let activity = "connecting to \(device.address)"
        // Let a pending change of the discovery, such as the end of a scan, finish: a controller that scans may fail to
        // connect.
        _ = await discoveries[device.adapter]?.change?.value
        let watch = Stopwatch(clock)
        let keeper = keeper
        let isConnected = { keeper.mirror[path, BlueZName.device]?["Connected"]?.boolean == true }
        // bluetoothd may reply to Connect before it signals that the device is connected: it learns on different
        // sockets that Connect has succeeded and that there is a connection. Therefore "not connected" means a hang-up
        // only after the device was connected.
        var wasConnected = isConnected()
        let observer = keeper.observe { _ in wasConnected = wasConnected || isConnected() }
        defer { keeper.stopObserving(observer) }
        do throws(BLEError) {
            if keeper.mirror[path, BlueZName.device]?["Connected"]?.boolean != true {
                try await askToConnect(path, timeout: patience, activity: activity)
            }
            try await wait(max(patience - watch.elapsed, .milliseconds(1)), activity: activity) {
                () -> Result<Void, BLEError>? in
                guard let properties = keeper.mirror[path, BlueZName.device] else {
                    return .failure(
                        keeper.isComplete
                            ? BLEError(.notFound, name: .unknownObject, activity: activity)
                            : keeper.absence(activity))
                }
                guard isConnected() else { return wasConnected ? .failure(Self.hungUp(activity)) : nil }
                return properties["ServicesResolved"]?.boolean == true ? .success(()) : nil
            }
            try await untilShown(services, of: path, within: max(patience - watch.elapsed, .milliseconds(1)), activity)
            guard isConnected() else { throw Self.hungUp(activity) }
            return connected(device, at: path)
        } catch {
            // bluetoothd would go on with the attempt, and refuse the next one with InProgress.
            if error.code == .timedOut || error.code == .cancelled { abandon(path) }
            throw error
        }
    }

    private static func hungUp(_ activity: String) -> BLEError {
        BLEError(.disconnected, activity: activity, hint: "try again: the device hung up at once")
    }

    /// Whether bluetoothd may never show a service of a device: a service of BR/EDR (16-bit UUIDs below 0x1800), or one
    /// that a plugin of bluetoothd reserves for itself: Generic Access (0x1800), Generic Attribute (0x1801), Device
    /// Information (0x180A), Battery (0x180F), Human Interface Device (0x1812), Scan Parameters (0x1813), MIDI.
    private static func mayBeHidden(_ service: BluetoothUUID) -> Bool {
        if let short = service.shortValue {
            return short <= 0x1801 || [0x180A, 0x180F, 0x1812, 0x1813].contains(short)
        }
        return service == "03B80E5A-EDE8-4B33-A751-6CE34EC4C700"
    }

    /// Waits until bluetoothd shows all services that it lists for the device: it may report them as resolved too early
    /// (bluez#1489). It lists a service in the device's property `UUIDs`, and shows a service as an object.
    ///
    /// If needed services are listed but not shown, waits up to 5 s (chosen, not measured) for these services, and
    /// throws `timedOut` if they do not appear: the caller then connects again. Otherwise waits until at least one
    /// service and each listed service that can't be hidden are shown; after 1 s, returns even if some are missing.
    /// This limit is short, because each connection to a device with a service that never appears takes that long.
    private func untilShown(
        _ needed: Set<BluetoothUUID>, of path: ObjectPath, within patience: Duration, _ activity: String
    ) async throws(BLEError) {
        let keeper = keeper
        let shown = { Set(keeper.mirror.services(of: path).map(\.uuid)) }
        let shownBefore = shown()
        await untilSignalled(of: path)
        let missing = { () -> Set<BluetoothUUID> in
            let report = keeper.mirror[path, BlueZName.device].flatMap { DeviceReport($0) }
            return Set(report?.services ?? []).subtracting(shown())
        }
        let isNeeded = !missing().isDisjoint(with: needed)
        let isDone = {
            isNeeded
                ? missing().isDisjoint(with: needed) : !shown().isEmpty && missing().allSatisfy(Self.mayBeHidden)
        }
        if isDone(), shown() == shownBefore { return }
        do throws(BLEError) {
            try await wait(min(patience, isNeeded ? .seconds(5) : .seconds(1)), activity: activity) {
                () -> Result<Void, BLEError>? in
                guard keeper.isConnected(path) else { return .failure(Self.hungUp(activity)) }
                return isDone() ? .success(()) : nil
            }
        } catch {
            guard error.code == .timedOut, !isNeeded else { throw error }
        }
        // Wait for the characteristics of the services that have appeared during this function: bluetoothd signals them
        // after the services.
        await untilSignalled(of: path)
    }

    /// Waits until the mirror contains all changes that bluetoothd has made so far. bluetoothd may signal
    /// ServicesResolved before the services (seen with 5.66), but it sends all pending signals before it replies to a
    /// call (gdbus flushes).
    private func untilSignalled(of path: ObjectPath) async {
        _ = try? await bus.property("Connected", of: BlueZName.device, at: path, of: BlueZName.service)
    }

    private func askToConnect(_ path: ObjectPath, timeout: Duration, activity: String) async throws(BLEError) {
        do throws(BLEError) {
            try await call(path, BlueZName.device, "Connect", timeout: timeout, activity: activity)
        } catch {
            guard error.name == .bluez("AlreadyConnected") else { throw error }
        }
    }

    /// Creates the connected device and starts watching it in one synchronous step, so that the end of the connection
    /// is not missed.
    private func connected(_ device: Device, at path: ObjectPath) -> ConnectedDevice {
        let connected = ConnectedDevice(device, at: path)
        connected.assumeIsolated { $0.watch() }
        return connected
    }

    /// Asks bluetoothd to end an attempt or a connection, without waiting for the end. Does nothing if the connection
    /// to the bus has ended.
    func abandon(_ path: ObjectPath) {
        try? bus.assumeIsolated {
            try $0.callWithoutReply(DBusCall(to: BlueZName.service, path, BlueZName.device, "Disconnect"))
        }
    }
}
