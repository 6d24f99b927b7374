public import BlueZ
public import Transports

/// The BLE devices that come into sight, change and go, each with the families that it may be of. None is connected to.
///
/// ```swift
/// let bluez = try await BlueZ.open()
/// for try await event in DeviceScan(with: bluez) {
///     if case .device(.found, let device, _) = event { print(device.address, device.name ?? "?", device.fit) }
/// }
/// ```
///
/// The sequence ends when the task that reads it is cancelled; while the adapter does not scan yet, or waits to do so again,
/// by ``BLEError`` with `cancelled`. Each reader has a scan of its own.
public struct DeviceScan: AsyncSequence, Sendable {
    public typealias Element = DeviceScanEvent
    public typealias Failure = BLEError

    private let bluez: BlueZ
    private let adapter: String?
    private let family: String?
    private let filter: DeviceFilter
    private let profiles: GATTProfiles
    private let isLasting: Bool

    /// A scan, which begins when it is read.
    ///
    /// - Parameters:
    ///   - bluez: The connection to bluetoothd; it is left open.
    ///   - adapter: The name or address of an adapter; nil for the first that is on.
    ///   - family: Only devices that may be of this family; nil for any.
    ///   - filter: Only devices that pass it.
    ///   - profiles: The profiles that families are told by.
    ///   - isLasting: Whether to wait, and scan again, where bluetoothd is started anew, or the adapter is plugged out or
    ///     switched off. Where not, the sequence throws then.
    public init(
        with bluez: BlueZ, on adapter: String? = nil, for family: String? = nil,
        passing filter: DeviceFilter = DeviceFilter(),
        among profiles: GATTProfiles = .families, isLasting: Bool = false
    ) {
        self.bluez = bluez
        self.adapter = adapter
        self.family = family
        self.filter = filter
        self.profiles = profiles
        self.isLasting = isLasting
    }

    public func makeAsyncIterator() -> Iterator { Iterator(scan: self) }

    /// Waits for what the scan tells next.
    public struct Iterator: AsyncIteratorProtocol {
        private let scan: DeviceScan
        /// What bluetoothd tells; nil where it does not scan now.
        private var reports: BLESequence<ScanEvent>.Iterator?
        private var hasBegun = false
        private var devices = ScannedDevices()
        /// What was found out and not told yet.
        private var events: [DeviceScanEvent] = []

        fileprivate init(scan: DeviceScan) { self.scan = scan }

        /// The next event.
        ///
        /// - Throws: ``BLEError`` with `notRunning`, `noBus`, `noAdapter`, `adapterOff`, `busy` or `notPermitted`; of a
        ///   lasting scan, where it can't begin.
        public mutating func next() async throws(BLEError) -> DeviceScanEvent? {
            while events.isEmpty {
                do throws(BLEError) {
                    guard reports != nil else {
                        try await begin()
                        continue
                    }
                    guard let event = try await reports?.next() else { return nil }
                    await take(event)
                } catch {
                    guard scan.isLasting, hasBegun, Self.passing.contains(error.code) else { throw error }
                    // What has gone before the scan had begun again was told, and may be noticed here first.
                    guard reports == nil else {
                        interrupt(error)
                        continue
                    }
                    try? await scan.bluez.clock.sleep(for: .milliseconds(250))
                }
            }
            return events.removeFirst()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BLEError) -> DeviceScanEvent? {
            try await next()
        }

        /// What a lasting scan outlives.
        private static let passing: Set<BLEError.Code> = [.notRunning, .noBus, .noAdapter, .adapterOff]

        private mutating func begin() async throws(BLEError) {
            if hasBegun { _ = try await scan.bluez.waitForAdapter(scan.adapter) }
            reports = try await scan.bluez.scan(for: scan.serviceFilter, on: scan.adapter).makeAsyncIterator()
            events.append(.scanning(isAgain: hasBegun))
            hasBegun = true
        }

        /// Nothing is known any more.
        private mutating func interrupt(_ error: BLEError) {
            for device in devices.sorted { lose(device.address) }
            events.append(.interrupted(error))
            reports = nil
        }

        private mutating func take(_ event: ScanEvent) async {
            switch event {
            case .found(let report), .changed(let report):
                let device = ScannedDevice(
                    report, characteristics: await scan.characteristics(of: report), among: scan.profiles)
                if let family = scan.family, !device.fit.families.contains(family) { return lose(device.address) }
                guard scan.filter.passes(device) else { return lose(device.address) }
                show(device)
            case .lost(let address): lose(address)
            }
        }

        private mutating func show(_ device: ScannedDevice) {
            let last = devices[device.address]
            guard device != last else { return }
            devices[device.address] = device
            let isNotable = last.map { !device.isLike($0) } ?? true
            events.append(.device(last == nil ? .found : .changed, device, isNotable: isNotable))
        }

        /// A device is not there any more, or not one that was asked for.
        private mutating func lose(_ address: BluetoothAddress) {
            guard let last = devices[address] else { return }
            devices[address] = nil
            events.append(.device(.lost, last, isNotable: true))
        }
    }

    /// The services that bluetoothd is asked for. It is not asked for names or signals: it merges the filters of all programs,
    /// and would not tell of a device whose signal weakens below what was asked for.
    private var serviceFilter: ScanFilter {
        ScanFilter(services: family.map { Set(profiles.profiles(of: $0).flatMap(\.services)) } ?? [])
    }

    private func characteristics(of report: DeviceReport) async -> Set<BluetoothUUID> {
        guard report.areServicesResolved else { return [] }
        let services = (try? await bluez.knownServices(of: report.address, on: adapter)) ?? []
        return Set(services.flatMap(\.characteristics).map(\.uuid))
    }
}
