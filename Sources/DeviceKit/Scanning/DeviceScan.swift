public import BlueZ
public import Transports

/// The BLE devices that appear, change and disappear, each with the families that it may belong to. The scan connects
/// to no device.
///
/// ```swift
/// let bluez = try await BlueZ.open()
/// for try await event in DeviceScan(with: bluez) {
///     if case .device(.found, let device, _) = event { print(device.address, device.name ?? "?", device.fit) }
/// }
/// ```
///
/// The sequence ends when the task that reads it is cancelled. If the adapter is not scanning at that moment, the
/// sequence throws `BLEError` with `cancelled` instead. Each reader has a scan of its own.
public struct DeviceScan: AsyncSequence, Sendable {
    public typealias Element = DeviceScanEvent
    public typealias Failure = BLEError

    private let bluez: BlueZ
    private let adapter: String?
    private let family: String?
    private let filter: DeviceFilter
    private let profiles: GATTProfiles
    private let isLasting: Bool

    /// Creates a scan, which begins when it is read.
    ///
    /// - Parameters:
    ///   - bluez: The connection to bluetoothd, which stays open.
    ///   - adapter: The name or address of an adapter; nil for the first that is on.
    ///   - family: Only devices that may belong to this family are reported; nil for all.
    ///   - filter: The filter that devices must pass.
    ///   - profiles: The profiles by which families are recognized.
    ///   - isLasting: Whether to wait and scan again after bluetoothd restarts, or after the adapter is unplugged or
    ///     switched off. Otherwise the sequence throws.
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

    /// The iterator of a scan.
    public struct Iterator: AsyncIteratorProtocol {
        private let scan: DeviceScan
        /// The reports of bluetoothd; nil while it does not scan.
        private var reports: BLESequence<ScanEvent>.Iterator?
        private var hasBegun = false
        private var devices = ScannedDevices()
        /// The events that are not returned yet.
        private var events: [DeviceScanEvent] = []

        fileprivate init(scan: DeviceScan) { self.scan = scan }

        /// Waits for the next event.
        ///
        /// - Throws: `BLEError`, for example with `notRunning`, `noAdapter` or `adapterOff`. Once a lasting scan has
        ///   begun, the loss of bluetoothd or of the adapter is no error.
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
                    // If the adapter disappears again before the scan has resumed, the interruption was reported
                    // already. Pause, because `begin` may fail at once.
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

        /// The errors that a lasting scan survives.
        private static let passing: Set<BLEError.Code> = [.notRunning, .noBus, .noAdapter, .adapterOff]

        private mutating func begin() async throws(BLEError) {
            if hasBegun { _ = try await scan.bluez.waitForAdapter(scan.adapter) }
            reports = try await scan.bluez.scan(for: scan.serviceFilter, on: scan.adapter).makeAsyncIterator()
            events.append(.scanning(isAgain: hasBegun))
            hasBegun = true
        }

        /// Reports all devices as lost, and the scan as interrupted.
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

        /// Reports a device as lost, if it was reported as found: it has disappeared, no longer matches the filter or
        /// the family, or the scan was interrupted.
        private mutating func lose(_ address: BluetoothAddress) {
            guard let last = devices[address] else { return }
            devices[address] = nil
            events.append(.device(.lost, last, isNotable: true))
        }
    }

    /// The filter for bluetoothd, which contains only services. Names and signal strengths are checked here instead,
    /// because bluetoothd merges the filters of all programs, and would not report that a signal weakens below the
    /// limit.
    private var serviceFilter: ScanFilter {
        ScanFilter(services: family.map { Set(profiles.profiles(of: $0).flatMap(\.services)) } ?? [])
    }

    private func characteristics(of report: DeviceReport) async -> Set<BluetoothUUID> {
        guard report.areServicesResolved else { return [] }
        let services = (try? await bluez.knownServices(of: report.address, on: adapter)) ?? []
        return Set(services.flatMap(\.characteristics).map(\.uuid))
    }
}
