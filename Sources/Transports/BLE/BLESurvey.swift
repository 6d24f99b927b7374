internal import BlueZ
internal import DBus
public import DescriptorIO
public import LineProtocol

/// Looks for all BLE devices that an endpoint of any device, `ble:*`, may mean.
///
///     let endpoint = try Endpoint("ble:*?family=rescue")
///     for phone in try await BLESurvey(endpoint, among: profiles).devices(for: .seconds(10), on: loop) { print(phone.endpoint.text) }
public struct BLESurvey: Sendable {
    /// A device in sight.
    public struct Sighting: Sendable {
        /// The device by its address, with the options of the endpoint that was looked for.
        public let endpoint: Endpoint
        /// What the device calls itself; nil where it has not said.
        public let name: String?
        /// As ``Link/deviceAddress``.
        public var address: String { endpoint.address }
    }

    private let endpoint: Endpoint
    private let wanted: BLEEndpoint
    private let bus: DBusBus

    /// A survey for devices of which each offers a service of the endpoint's family.
    ///
    /// - Parameter known: The profiles that the endpoint's options choose from.
    /// - Throws: `LinkError` with `invalidEndpoint`.
    public init(_ endpoint: Endpoint, among known: GATTProfiles) throws(LinkError) {
        try self.init(endpoint, among: known, bus: .system)
    }

    init(_ endpoint: Endpoint, among known: GATTProfiles, bus: DBusBus) throws(LinkError) {
        self.endpoint = endpoint
        self.bus = bus
        wanted = try BLEEndpoint(endpoint, among: known)
    }

    /// Whether an endpoint means any device, rather than a certain one.
    public static func isWanted(for endpoint: Endpoint) -> Bool { endpoint.scheme == "ble" && endpoint.address == "*" }

    /// The devices in sight, the strongest first, once there are some; none where `patience` is over.
    ///
    /// It has a connection to bluetoothd of its own, and only for this search: of two that scan at once one may not be
    /// answered.
    ///
    /// - Parameter excluded: The addresses of devices that are not looked for.
    /// - Throws: `LinkError` where it can't be searched; `cancelled`.
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
