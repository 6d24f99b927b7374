internal import BlueZ
internal import DBus
public import DescriptorIO
public import LineProtocol

/// A search for all BLE devices that match an endpoint for any device, `ble:*`.
///
///     let endpoint = try Endpoint("ble:*?family=rescue")
///     let survey = try BLESurvey(endpoint, among: profiles)
///     for phone in try await survey.devices(for: .seconds(10), on: loop) { print(phone.address) }
public struct BLESurvey: Sendable {
    /// A device in sight.
    public struct Sighting: Sendable {
        /// The device's endpoint: its address with the options of the survey's endpoint. ``Endpoint/text`` is still the
        /// text of the survey's endpoint.
        public let endpoint: Endpoint
        /// The name that the device advertises; nil if unknown.
        public let name: String?
        /// The device's address, as in `Link.deviceAddress`.
        public var address: String { endpoint.address }
    }

    private let endpoint: Endpoint
    private let wanted: BLEEndpoint
    private let bus: DBusBus

    /// Creates a survey for devices that advertise a service of the endpoint's family.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint, such as `ble:*?family=rescue`.
    ///   - known: The profiles that the endpoint's options choose from.
    /// - Throws: `LinkError` with `invalidEndpoint`.
    public init(_ endpoint: Endpoint, among known: GATTProfiles) throws(LinkError) {
        try self.init(endpoint, among: known, bus: .system)
    }

    init(_ endpoint: Endpoint, among known: GATTProfiles, bus: DBusBus) throws(LinkError) {
        self.endpoint = endpoint
        self.bus = bus
        wanted = try BLEEndpoint(endpoint, among: known)
    }

    /// Returns whether an endpoint means any device, not a particular one.
    public static func isWanted(for endpoint: Endpoint) -> Bool { endpoint.scheme == "ble" && endpoint.address == "*" }

    /// Returns the devices in sight, the strongest first, half a second after the first sighting; none if `patience`
    /// ends first.
    ///
    /// The survey opens a connection to bluetoothd for this search, and closes it at the end.
    ///
    /// - Parameters:
    ///   - excluded: The addresses of devices to ignore.
    ///   - patience: The time limit for the first sighting.
    ///   - loop: The event loop that the survey runs on.
    /// - Throws: `LinkError` if scanning is impossible, or with `cancelled`.
    public func devices(
        except excluded: Set<String> = [], for patience: Duration, on loop: EventLoop
    ) async throws(LinkError) -> [Sighting] {
        do throws(BLEError) {
            let bluez = try await BlueZ.open(bus, on: loop)
            let result: Result<[DeviceReport], BLEError>
            do throws(BLEError) {
                result = .success(try await reports(with: bluez, excluded, patience))
            } catch {
                result = .failure(error)
            }
            await bluez.close()
            if Task.isCancelled { throw BLEError(.cancelled, activity: "find") }
            return try result.get().map { report in
                Sighting(endpoint: endpoint.replacingAddress("\(report.address)"), name: report.name)
            }
        } catch {
            throw LinkError(error, name: endpoint.text)
        }
    }

    private func reports(
        with bluez: BlueZ, _ excluded: Set<String>, _ patience: Duration
    ) async throws(BLEError) -> [DeviceReport] {
        var sightings = Sightings(wanted.target)
        let services = Set(wanted.profiles.flatMap(\.services))
        let scan = try await bluez.scan(for: ScanFilter(services: services), on: wanted.adapter)
        defer { scan.cancel() }
        var timer = BLESearch.end(scan, after: patience, bluez)
        defer { timer.cancel() }
        var isFound = false
        func fitting() -> [DeviceReport] { sightings.fitting.filter { !excluded.contains("\($0.address)") } }
        for try await event in scan {
            sightings.take(event)
            if isFound || fitting().isEmpty { continue }
            isFound = true
            timer.cancel()
            timer = BLESearch.end(scan, after: BLESearch.window, bluez)
        }
        return fitting()
    }
}
