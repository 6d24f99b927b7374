public import BlueZ
internal import DBus
public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A BLE device of any kind that this program owns. Its characteristics are read, written and subscribed to
/// individually.
///
/// ```swift
/// let device = try await BLEDevice.open(Endpoint("ble:Thermometer"), as: BLEUse(isBrief: true))
/// for service in device.services { print(service.uuid, service.characteristics.map(\.uuid)) }
/// await device.close()
/// ```
public final class BLEDevice: Sendable {
    /// The endpoint that the device was opened from, as it was written.
    public let name: String
    /// The connection to the device. To disconnect, call ``close()``, which also lets other programs use the device.
    public let connection: ConnectedDevice
    /// The device's ``DeviceID``, as in `Link.deviceID`.
    public var deviceID: String { claim.deviceID }
    /// The services of the device.
    public var services: [GATTService] { connection.services }
    /// A note for people on how the device was opened; nil if there is nothing to note.
    public var openingNote: String? { claim.note }

    private let profiles: GATTProfiles
    private let bluez: BlueZ
    private let claim: BLEClaim
    private let closing: BLELink.Closing
    let pairing: PairingAdvice
    /// The link over the same connection; nil if no link was opened. The link ends with the connection.
    private let link = Mutex<(any Link)?>(nil)

    fileprivate init(
        _ connection: ConnectedDevice, of bluez: BlueZ, _ claim: BLEClaim, closing: BLELink.Closing, name: String,
        _ pairing: PairingAdvice, among profiles: GATTProfiles
    ) {
        self.profiles = profiles
        self.connection = connection
        self.bluez = bluez
        self.claim = claim
        self.closing = closing
        self.name = name
        self.pairing = pairing
    }

    /// Connects to the device that a `ble:` endpoint names, whatever its kind, and discovers its services.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device.
    ///   - loop: The event loop that the connection runs on.
    ///   - use: The way in which the program uses the device.
    /// - Throws: For example `notFound`, `busy`, `unavailable` or `timedOut`.
    public static func open(
        _ endpoint: Endpoint, on loop: EventLoop = .shared, as use: BLEUse = BLEUse()
    ) async throws(LinkError) -> BLEDevice {
        try await open(endpoint, on: loop, bus: .system, as: use)
    }

    static func open(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus, clock: (any Clock<Duration>)? = nil,
        as use: BLEUse = BLEUse(), locks: DeviceLocks = .system
    ) async throws(LinkError) -> BLEDevice {
        try await BLEOpening.run(endpoint, on: loop, bus: bus, clock: clock, as: use, locks: locks) {
            opening throws(LinkError) in
            try await opening.wholeDevice()
        }
    }

    /// Converts an error of this device. If the device requires pairing, the hint tells a person how to pair.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - activity: The failed activity.
    public func failure(_ error: BLEError, activity: String) -> LinkError {
        LinkError(sending: error, name: name, activity: activity, pairing: pairing)
    }

    /// A hint for people on pairing, for a device that does not answer; nil if the device is paired.
    public var silenceHint: String? {
        get async { await connection.isPaired ? nil : pairing.possibility }
    }

    /// Opens a link over the same connection, if the device fits a profile of the family. ``close()`` ends both the
    /// link and the connection. Call this function once at most.
    ///
    /// - Parameter family: A family of the profiles that the device was opened with (``BLEUse/profiles``).
    /// - Returns: The link; nil if the device fits no profile of the family.
    /// - Throws: The errors of opening a link.
    public func serialLink(family: String) async throws(LinkError) -> (any Link)? {
        let profiles = profiles.profiles(of: family)
        guard let route = profiles.lazy.compactMap({ GATTRoute($0, in: self.services) }).first else { return nil }
        do throws(BLEError) {
            let link = try await BLELink(connection, route, of: bluez, claim, closing: closing, name: name, pairing)
            self.link.withLock { $0 = link }
            return link
        } catch {
            throw failure(error, activity: "open")
        }
    }

    /// Closes the link, if one was opened, and disconnects, unless another program uses the connection as well. Closing
    /// twice is allowed.
    public func close() async {
        let link = link.withLock { link in
            defer { link = nil }
            return link
        }
        if let link { return await link.close() }
        await closing.close(connection, of: bluez, claim)
    }
}

extension BLEOpening {
    /// Opens the first device that the endpoint may mean.
    fileprivate func wholeDevice() async throws(LinkError) -> BLEDevice {
        use.onStep?(.searching)
        guard let address = try await search.addresses(with: bluez, endpoint: endpoint).first else {
            throw LinkError(.notFound, name: endpoint.text, activity: "find")
        }
        let known = try await device(at: address)
        let claim = try await claim(known)
        do throws(LinkError) { return try await open(known, claim) } catch {
            claim.release(isDisconnecting: error.code != .busy)
            throw error
        }
    }

    private func open(_ known: Device, _ claim: BLEClaim) async throws(LinkError) -> BLEDevice {
        let pairing = PairingAdvice(address: known.address, wasAskedFor: wanted.pairs)
        let device = try await connect(known, pairing)
        let other = await device.firstHeardElsewhere(of: device.services.flatMap(\.characteristics))
        if let other, !wanted.sharesValues {
            await device.leave()
            throw LinkError(heardElsewhere: other, known.address, claim, name: endpoint.text)
        }
        do throws(LinkError) { try await pair(known, pairing) } catch {
            await disconnect(device)
            throw error
        }
        remember(device)
        let closing = BLELink.Closing(use, isHeardElsewhere: other != nil)
        return BLEDevice(device, of: bluez, claim, closing: closing, name: endpoint.text, pairing, among: use.profiles)
    }
}
