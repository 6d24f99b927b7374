internal import BlueZ
internal import DescriptorIO
internal import LineProtocol

/// Searches for the device that an endpoint names.
struct BLESearch {
    /// The time limit for the first sighting. A power-saving module advertises about once a second.
    static let patience = Duration.seconds(10)
    /// The time to wait for further matches after the first: a stronger device, or another device with the same name.
    static let window = Duration.milliseconds(500)

    let target: BLEEndpoint.Target
    let adapter: String?
    /// The services of which a device must advertise one, if the endpoint means any device.
    let services: Set<BluetoothUUID>
    let memory: (any BLENameMemory)?
    /// The time limit for the first sighting.
    private let patience: Duration

    init(_ endpoint: BLEEndpoint, memory: (any BLENameMemory)? = nil, patience: Duration = BLESearch.patience) {
        self.patience = patience
        target = endpoint.target
        adapter = endpoint.adapter
        services = Set(endpoint.profiles.flatMap(\.services))
        self.memory = memory
    }

    /// Returns the addresses of the matching devices, the strongest first; for a name, the only match. If the endpoint
    /// names an address, returns this address without a search: connecting scans for the device if necessary.
    ///
    /// - Throws: `notFound`; `ambiguous` if several devices have the name; `changedDevice` if the name led to another
    ///   device before; the errors of scanning.
    func addresses(with bluez: BlueZ, endpoint: Endpoint) async throws(LinkError) -> [BluetoothAddress] {
        if case .address(let address) = target { return [address] }
        var sightings = Sightings(target)
        do throws(BLEError) {
            let filter = target == .any ? ScanFilter(services: services) : ScanFilter()
            let scan = try await bluez.scan(for: filter, on: adapter)
            defer { scan.cancel() }
            var timer = Self.end(scan, after: patience, bluez)
            defer { timer.cancel() }
            var isFound = false
            for try await event in scan {
                sightings.take(event)
                if isFound || sightings.fitting.isEmpty { continue }
                isFound = true
                timer.cancel()
                timer = Self.end(scan, after: min(Self.window, patience), bluez)
            }
        } catch {
            throw LinkError(error, name: endpoint.text)
        }
        if Task.isCancelled { throw LinkError(.cancelled, name: endpoint.text, activity: "find") }
        let fitting = sightings.fitting
        guard let first = fitting.first else {
            throw LinkError(.notFound, name: endpoint.text, activity: "find", hint: sightings.hint)
        }
        if case .name(let name) = target {
            if fitting.count > 1 { throw Self.ambiguity(fitting, endpoint) }
            try check(first, name, endpoint)
        }
        return fitting.map(\.address)
    }

    private static func ambiguity(_ fitting: [DeviceReport], _ endpoint: Endpoint) -> LinkError {
        let list = fitting.map { report in
            "\(report.address) (" + (report.rssi.map { "\($0) dBm" } ?? "connected to this computer") + ")"
        }
        return LinkError(
            .ambiguous, name: endpoint.text, activity: "find", detail: list.joined(separator: ", "),
            hint: "name one by its address: " + fitting.prefix(1).map { "ble:\($0.address)" }.joined())
    }

    /// Rejects a device other than the one that the name led to before.
    private func check(_ report: DeviceReport, _ name: String, _ endpoint: Endpoint) throws(LinkError) {
        guard let before = memory?.address(of: name), before != report.address else { return }
        throw LinkError(
            .changedDevice, name: endpoint.text, activity: "find",
            detail: "ble:\(name) resolved to \(before) before, and resolves to \(report.address) now",
            hint: "bring \(before) back in range, or name the other by its address: ble:\(report.address)")
    }

    /// Starts a task that ends the scan after `patience`. Cancelling the task leaves the scan running.
    static func end(_ scan: BLESequence<ScanEvent>, after patience: Duration, _ bluez: BlueZ) -> Task<Void, Never> {
        let watch = SessionClock(bluez.clock)
        return Task(executorPreference: bluez.loop) {
            if (try? await watch.sleep(patience)) != nil { scan.cancel() }
        }
    }
}

/// The devices that a search has found.
struct Sightings {
    private let target: BLEEndpoint.Target
    private var seen: [BluetoothAddress: DeviceReport] = [:]

    init(_ target: BLEEndpoint.Target) { self.target = target }

    /// Takes in an event of a scan.
    mutating func take(_ event: ScanEvent) {
        switch event {
        // A scan also reports changes of devices that are no longer in sight.
        case .found(let report), .changed(let report): seen[report.address] = report.isInSight ? report : nil
        case .lost(let address): seen[address] = nil
        }
    }

    /// The matching devices, the strongest first.
    var fitting: [DeviceReport] {
        target.matches(among: seen.values.sorted(by: Self.isStronger), address: \.address, name: \.name)
    }

    private static func isStronger(_ one: DeviceReport, _ other: DeviceReport) -> Bool {
        let (left, right) = (one.rssi ?? Int.min, other.rssi ?? Int.min)
        return left == right ? one.address < other.address : left > right
    }

    /// A hint for a failed search: for a name, up to five names in sight, the most similar one first.
    var hint: String {
        guard case .name(let name) = target else {
            return "check the device's power, and that no phone is connected to it: no device offers the service"
        }
        var names: [String] = []
        let likest = seen.values.sorted(by: Self.isStronger).compactMap(\.name)
            .map { (name: $0, distance: EditDistance.of(name.lowercased(), $0.lowercased())) }
            .sorted { $0.distance < $1.distance }
        for candidate in likest where !names.contains(candidate.name) { names.append(candidate.name) }
        guard !names.isEmpty else {
            return "check the device's power, and that no phone is connected to it: no device in range has a name"
        }
        return "in range: " + names.prefix(5).map(\.asEndpointName.asWord).joined(separator: ", ")
    }
}
