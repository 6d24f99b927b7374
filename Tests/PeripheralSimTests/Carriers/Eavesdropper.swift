import BlueZ
import FirmwareSim
import PeripheralSim
import TestSupport

/// The input that has reached a device over its carrier.
struct Reached: Sendable {
    /// The number of bytes that clients have sent.
    var bytes = 0
    /// The number of times that a client has opened the line, or subscribed.
    var visits = 0
    /// The number of times that no client had the line open any more.
    var departures = 0
}

/// Wraps a device and counts its input, so that a test knows when the input has reached the device.
struct Eavesdropper<Device: SimulatedDevice>: SimulatedDevice {
    private var device: Device
    let reached = Watched(Reached())

    init(_ device: Device) { self.device = device }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        device.receive(bytes, at: instant)
        reached.update { $0.bytes += bytes.count }
    }

    mutating func hostCame(at instant: Duration) {
        device.hostCame(at: instant)
        reached.update { $0.visits += 1 }
    }

    mutating func lineLeft(at instant: Duration) {
        device.lineLeft(at: instant)
        reached.update { $0.departures += 1 }
    }

    mutating func advance(to instant: Duration) -> [Emission] { device.advance(to: instant) }
    mutating func reset(at instant: Duration) { device.reset(at: instant) }
    mutating func setStuck(_ isStuck: Bool, at instant: Duration) { device.setStuck(isStuck, at: instant) }
    mutating func takeCarrierEvents() -> [CarrierEvent] { device.takeCarrierEvents() }
    mutating func setHostBaudRate(_ rate: Int) { device.setHostBaudRate(rate) }
    var heedsHostBaudRate: Bool { device.heedsHostBaudRate }
    var nextActivity: Duration? { device.nextActivity }
    var isQuiescent: Bool { device.isQuiescent }
    var observations: [String: ObservedValue] { device.observations }
    static var verbs: [DeviceVerb<Eavesdropper>] { Device.verbs.map { $0.of(\.device) } }
    static var settings: [DeviceSetting<Eavesdropper>] { Device.settings.map { $0.of(\.device) } }
}

extension Eavesdropper: SimulatedPeripheral where Device: SimulatedPeripheral {
    var offered: PeripheralDescription { device.offered }
    var hasLostWrite: Bool { device.hasLostWrite }

    mutating func take(_ event: CentralEvent, at instant: Duration) {
        device.take(event, at: instant)
        reached.update { reached in
            switch event {
            case .wrote(let bytes, _, _): reached.bytes += bytes.count
            case .subscribed: reached.visits += 1
            case .connected, .disconnected, .unsubscribed: break
            }
        }
    }

    mutating func setNotificationLength(_ length: Int?) { device.setNotificationLength(length) }

    mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? {
        device.read(characteristic, at: instant)
    }
}
