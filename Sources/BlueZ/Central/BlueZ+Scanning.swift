internal import DBus
internal import DescriptorIO

extension BlueZ {
    /// Scans for devices until the sequence is cancelled or released. The first events report the matching devices that
    /// are already in sight or connected.
    ///
    /// - Parameters:
    ///   - filter: The conditions for devices.
    ///   - adapter: The name or address of an adapter; nil for the first that is powered.
    /// - Throws: ``BLEError``, for example with ``BLEError/Code/notRunning``, ``BLEError/Code/noAdapter``,
    ///   ``BLEError/Code/adapterOff``, ``BLEError/Code/busy`` or ``BLEError/Code/cancelled``. If the scan ends later,
    ///   for example because the adapter is switched off, the sequence throws the error.
    public func scan(
        for filter: ScanFilter = ScanFilter(), on adapter: String? = nil
    ) async throws(BLEError) -> BLESequence<ScanEvent> {
        let place = try self.adapter(adapter).address
        _ = try poweredAdapter(place, activity: "scanning")
        let queue = ArrivalQueue<ScanEvent, BLEError>()
        let scan = Scan(for: filter, on: place, keeper, queue)
        let discovery = discoveries[place] ?? Discovery()
        discoveries[place] = discovery
        let id = keeper.observe { [weak self, loop] change in
            guard let error = scan.take(change) else { return }
            queue.end(error)
            // Close the connection without StopDiscovery: bluetoothd has forgotten this discovery, and would stop a
            // later one.
            if let bus = discovery.bus { Task(executorPreference: loop) { await bus.close() } }
            discovery.bus = nil
            self?.assumeIsolated { $0.discoveries[place] = nil }
        }
        discovery.filters[id] = filter
        let stop: @Sendable () -> Void = { [weak self, loop] in
            let end: @Sendable () -> Void = { [weak self] in
                self?.assumeIsolated { $0.endScan(id, discovery, on: place) }
            }
            if loop.isCurrent { end() } else { loop.execute(end) }
        }
        scan.tellOfAll()
        do throws(BLEError) {
            try await settle(discovery, on: place).value.get()
            if Task.isCancelled { throw BLEError(.cancelled, activity: "scanning") }
        } catch {
            stop()
            throw error
        }
        return BLESequence(queue, stop: stop)
    }

    private func endScan(_ id: UInt64, _ discovery: Discovery, on place: BluetoothAddress) {
        keeper.stopObserving(id)
        guard discovery.filters.removeValue(forKey: id) != nil else { return }
        settle(discovery, on: place)
    }
}

/// One scan: its filter, and the devices that it has reported.
private final class Scan {
    private let filter: ScanFilter
    private let adapter: BluetoothAddress
    private weak let keeper: MirrorKeeper?
    private let queue: ArrivalQueue<ScanEvent, BLEError>
    /// The last report that the scan has passed on for each device that it has found and not lost.
    private var told: [ObjectPath: DeviceReport] = [:]

    init(
        for filter: ScanFilter, on adapter: BluetoothAddress, _ keeper: MirrorKeeper,
        _ queue: ArrivalQueue<ScanEvent, BLEError>
    ) {
        self.filter = filter
        self.adapter = adapter
        self.keeper = keeper
        self.queue = queue
    }

    /// Reports the matching devices that are in sight or connected now.
    func tellOfAll() {
        guard let keeper, let place = keeper.adapterPath(adapter) else { return }
        for (path, _) in keeper.mirror.objects(with: BlueZName.device, below: place) { look(at: path) }
    }

    /// Processes a change. Returns the reason for the end of the scan; nil if the scan goes on.
    func take(_ change: MirrorChange) -> BLEError? {
        switch change {
        case .serviceCame: break
        case .serviceWent: return keeper?.absence("scanning")
        case .added(let path, BlueZName.device), .changed(let path, BlueZName.device, _):
            if let place = keeper?.adapterPath(adapter), path.isWithin(place) { look(at: path) }
        case .removed(let path, BlueZName.device, _):
            if let report = told.removeValue(forKey: path) { queue.append(.lost(report.address)) }
        case .removed(_, BlueZName.adapter, let properties)
        where properties["Address"]?.string.flatMap({ BluetoothAddress($0) }) == adapter:
            return BLEError(.noAdapter, activity: "scanning", hint: "plug the adapter \(adapter) in again")
        case .changed(let path, BlueZName.adapter, _) where path == keeper?.adapterPath(adapter):
            if keeper?.mirror[path, BlueZName.adapter]?["Powered"]?.boolean == false {
                return BLEError(.adapterOff, activity: "scanning")
            }
        default: break
        }
        return nil
    }

    /// Reports a device if it is new, or if its report has changed. A found device is reported even if it no longer
    /// matches.
    private func look(at path: ObjectPath) {
        guard let keeper, let report = keeper.mirror[path, BlueZName.device].flatMap({ DeviceReport($0) }) else {
            return
        }
        if report.isInSight { keeper.seen.insert(path) }
        if let last = told[path] {
            guard report != last else { return }
            told[path] = report
            queue.append(.changed(report))
        } else if report.isInSight, filter.fits(report) {
            told[path] = report
            queue.append(.found(report))
        }
    }
}

extension MirrorKeeper {
    /// Returns the current path of an adapter; nil if bluetoothd has no such adapter.
    func adapterPath(_ address: BluetoothAddress) -> ObjectPath? {
        mirror.objects(with: BlueZName.adapter).first { _, properties in
            properties["Address"]?.string.flatMap { BluetoothAddress($0) } == address
        }?.path
    }

    /// Returns the current path of a device of an adapter; nil if bluetoothd does not know the device.
    func devicePath(_ address: BluetoothAddress, on adapter: BluetoothAddress) -> ObjectPath? {
        guard let place = adapterPath(adapter) else { return nil }
        return mirror.objects(with: BlueZName.device, below: place).first { _, properties in
            properties["Address"]?.string.flatMap { BluetoothAddress($0) } == address
        }?.path
    }
}
