public import BlueZ
public import FirmwareSim

/// A device with a radio and faults. For faults, each notification is a unit (see `Occasion`), and each write a
/// command.
extension FaultyDevice: SimulatedPeripheral where Device: SimulatedPeripheral {
    public var offered: PeripheralDescription { device.offered }

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        guard case .wrote(let bytes, let characteristic, let mtu) = event else {
            if case .subscribed(let characteristic) = event { centralSubscribes(to: characteristic.bits) }
            return change(at: instant) { $0.take(event, at: $1) }
        }
        receivePacket(bytes, at: instant) { $0.take(.wrote($1, to: characteristic, mtu: mtu), at: $2) }
    }

    public mutating func setNotificationLength(_ length: Int?) { changeAtOnce { $0.setNotificationLength(length) } }

    public mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? {
        change(at: instant) { $0.read(characteristic, at: $1) }
    }
}
