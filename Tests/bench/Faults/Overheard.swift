import BlueZ
import FirmwareSim
import PeripheralSim

/// A device that also records its own output, before any fault.
struct Overheard<Device: SimulatedDevice>: SimulatedDevice {
    private(set) var device: Device
    /// The output so far: non-empty lines without their ends, or notifications.
    private(set) var said: [String] = []
    /// The output since the last line end.
    private var line: [UInt8] = []
    private let change: (@Sendable (inout Device, Duration) -> Void)?

    /// - Parameter change: Called before each step with the device and the time, to change the device's surroundings;
    ///   nil if they stay the same.
    init(_ device: Device, change: (@Sendable (inout Device, Duration) -> Void)? = nil) {
        self.device = device
        self.change = change
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        change?(&device, instant)
        let emissions = device.advance(to: instant)
        for emission in emissions {
            if emission.output != nil {
                said.append(String(decoding: emission.bytes, as: UTF8.self))
            } else {
                hear(emission.bytes)
            }
        }
        return emissions
    }

    private mutating func hear(_ bytes: [UInt8]) {
        for byte in bytes {
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                continue
            }
            if !line.isEmpty { said.append(String(decoding: line, as: UTF8.self)) }
            line = []
        }
    }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) { device.receive(bytes, at: instant) }
    mutating func hostCame(at instant: Duration) { device.hostCame(at: instant) }
    mutating func lineLeft(at instant: Duration) { device.lineLeft(at: instant) }

    mutating func reset(at instant: Duration) {
        device.reset(at: instant)
        line = []
    }

    mutating func setStuck(_ isStuck: Bool, at instant: Duration) { device.setStuck(isStuck, at: instant) }

    var nextActivity: Duration? { device.nextActivity }
    var isQuiescent: Bool { device.isQuiescent }
}

extension Overheard: SimulatedPeripheral where Device: SimulatedPeripheral {
    var offered: PeripheralDescription { device.offered }
    mutating func take(_ event: CentralEvent, at instant: Duration) { device.take(event, at: instant) }
    mutating func setNotificationLength(_ length: Int?) { device.setNotificationLength(length) }

    mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? {
        device.read(characteristic, at: instant)
    }
}
