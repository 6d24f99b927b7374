public import BlueZ
public import FirmwareSim

/// A peripheral around a device that also exists on a line. The peripheral behaves as the device, and notifies of the
/// device's output.
///
/// A conforming type itself defines the offer to centrals, and the meaning of their events for the device.
public protocol RadioShell: SimulatedPeripheral {
    /// The type of the device inside.
    associatedtype Inner: SimulatedDevice

    /// The device inside.
    var device: Inner { get set }
    /// The characteristic by which the peripheral notifies.
    static var notified: BluetoothUUID { get }
}

extension RadioShell {
    public mutating func receive(_ bytes: [UInt8], at instant: Duration) { device.receive(bytes, at: instant) }

    public mutating func reset(at instant: Duration) { device.reset(at: instant) }

    public mutating func setOwnFault(_ name: String?, at instant: Duration) { device.setOwnFault(name, at: instant) }

    public mutating func advance(to instant: Duration) -> [Emission] {
        device.advance(to: instant).map { Emission(bytes: $0.bytes, time: $0.time, characteristic: Self.notified) }
    }

    public var nextActivity: Duration? { device.nextActivity }

    public var isQuiescent: Bool { device.isQuiescent }

    public static var verbs: [DeviceVerb<Self>] { Inner.verbs.map { $0.of(\.device) } }

    public static var settings: [DeviceSetting<Self>] { Inner.settings.map { $0.of(\.device) } }

    public static var urgentCommands: [String] { Inner.urgentCommands }

    public static var commandFraming: CommandFraming { Inner.commandFraming }

    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        Inner.objection(to: command, isPacket: isPacket)
    }

    public var observations: [String: ObservedValue] { device.observations }
}
