import DeviceKit
import FirmwareSim
import LineProtocol
import PeripheralSim
import TestSupport
import Transports

/// The place of a simulated device of this process on the bench.
enum DevicePlace: String, Sendable, CaseIterable {
    case terminal, tcp, unix
    /// Over BLE, with the MTU that most BLE 5 devices agree on.
    case ble
    /// Over BLE, with the smallest MTU that Bluetooth allows, 23.
    case bleOfSmallPackets
    /// Served on TCP, and shared on a Unix socket by a ``DeviceShare``.
    case shared

    /// All places except ``bleOfSmallPackets``, whose packets of 20 bytes have no room for a peer's longer messages.
    static let spacious = allCases.filter { $0 != .bleOfSmallPackets }
}

/// A simulated device of this process at some place of the bench, whose time advances on demand.
protocol PlacedDevice<Device>: Sendable {
    associatedtype Device: SimulatedDevice

    /// The device's endpoint.
    var endpoint: String { get }
    /// The environment that another program needs to find the device.
    var environment: [String: String] { get }

    func link() async throws -> any Link
    /// Calls `body` with the device and its simulated time; returns the result of `body`.
    func change<Value: Sendable>(_ body: @Sendable (inout Device, Duration) -> Value) async -> Value
    /// Runs the device for this much simulated time.
    func advance(by duration: Duration) async
    /// Adds a listener for the device's output.
    func attach(_ listener: any EmissionListener) async
    func stop() async
}

extension PlacedDevice {
    /// Waits until `isSo` is true of the device. Checks it at once, and again after each output of the device.
    ///
    /// - Parameter what: The condition in words, for the failure after a time-out.
    func untilItSpeaks(for what: String, _ isSo: @escaping @Sendable (Device) -> Bool) async throws {
        let ear = Ear()
        await attach(ear)
        while true {
            let heard = ear.heard.state
            if await change({ device, _ in isSo(device) }) { return }
            _ = try await ear.heard.wait(for: what) { $0 > heard ? true : nil }
        }
    }
}

/// Counts the outputs of a device, and ignores their content.
private final class Ear: EmissionListener {
    let heard = Watched(0)
    var isFull: Bool { false }

    func take(_ emissions: [Emission]) -> Int {
        heard.update { $0 += 1 }
        return 0
    }

    func hears(_ emission: Emission) -> Bool { false }
}

extension ServedDevice: PlacedDevice {
    var environment: [String: String] { [:] }

    func link() async throws -> any Link { try await LinkSchemes.standard.open(Endpoint(endpoint)) }

    func change<Value: Sendable>(_ body: @Sendable (inout Device, Duration) -> Value) async -> Value {
        await host.change(body)
    }

    func advance(by duration: Duration) async { await host.advance(by: duration) }
    func attach(_ listener: any EmissionListener) async { await host.attach(listener) }
}

/// A peripheral that wraps a device of a family.
protocol DeviceRadio: SimulatedPeripheral {
    associatedtype Device: SimulatedDevice
    var device: Device { get set }
}

extension PeerPeripheral: DeviceRadio {}
extension RescuePeripheral: DeviceRadio {}

extension OfferedDevice: PlacedDevice where Radio: DeviceRadio {
    func link() async throws -> any Link { try await link(nil) }

    func change<Value: Sendable>(_ body: @Sendable (inout Radio.Device, Duration) -> Value) async -> Value {
        await host.change { radio, now in body(&radio.device, now) }
    }

    func advance(by duration: Duration) async { await host.advance(by: duration) }
    func attach(_ listener: any EmissionListener) async { await host.attach(listener) }
}

/// A device of this process, shared on a Unix socket. Links lead to the share.
struct SharedPlacedDevice<Device: SimulatedDevice>: PlacedDevice {
    private let device: ServedDevice<Device>
    private let share: DeviceShare
    var endpoint: String { share.endpoint }
    var environment: [String: String] { [:] }

    init(_ device: ServedDevice<Device>, _ family: Family) async throws {
        self.device = device
        share = try await DeviceShare(family, by: .unix) { try await device.link() }
    }

    func link() async throws -> any Link { try await share.link() }

    func change<Value: Sendable>(_ body: @Sendable (inout Device, Duration) -> Value) async -> Value {
        await device.change(body)
    }

    func advance(by duration: Duration) async { await device.advance(by: duration) }
    func attach(_ listener: any EmissionListener) async { await device.attach(listener) }

    func stop() async {
        await share.close()
        await device.stop()
    }
}

extension DevicePlace {
    /// Creates a peer at this place.
    func peer(_ options: PeerFirmwareOptions) async throws -> any PlacedDevice<PeerFirmware> {
        if self == .shared {
            return try await SharedPlacedDevice(ServedDevice(PeerFirmware(options: options), on: .tcp), .peer)
        }
        guard let wire else { return try await OfferedDevice(PeerPeripheral(options), mtu: mtu) }
        return try await ServedDevice(PeerFirmware(options: options), on: wire)
    }

    /// Creates a phone with the rescue app at this place.
    func phone(_ options: RescueFirmwareOptions) async throws -> any PlacedDevice<RescueFirmware> {
        if self == .shared {
            return try await SharedPlacedDevice(ServedDevice(RescueFirmware(options: options), on: .tcp), .rescue)
        }
        guard let wire else { return try await OfferedDevice(RescuePeripheral(options), mtu: mtu) }
        return try await ServedDevice(RescueFirmware(options: options), on: wire)
    }

    private var mtu: Int { self == .bleOfSmallPackets ? 23 : 517 }

    /// The corresponding kind of wire; nil for BLE and for a shared device.
    private var wire: WirePlace? { .init(rawValue: rawValue) }
}
