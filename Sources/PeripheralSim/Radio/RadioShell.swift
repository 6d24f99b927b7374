public import BlueZ
public import FirmwareSim

/// A peripheral around a device that is the same on a line: what it has is the device's, and what that says is notified.
///
/// What the peripheral offers, and what an event of a central means to the device, is left to it.
public protocol RadioShell: SimulatedPeripheral {
    associatedtype Inner: SimulatedDevice

    /// The device itself.
    var device: Inner { get set }
    /// By which characteristic it notifies.
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
