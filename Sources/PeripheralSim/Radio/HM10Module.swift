public import BlueZ
public import FirmwareSim
package import ModuleDialects

/// An HM-10, or one of its clones, on the UART of a simulated device: the device's output is notified, and bytes that a
/// central writes arrive on the device's line.
///
/// The module knows nothing of lines. It notifies when it has 20 bytes, or when the UART falls silent, so that it cuts
/// lines anywhere, and joins lines that are printed at once. While no central is connected, the device's output is
/// lost, except AT commands, which the module answers at the UART. The device keeps its own baud rate, whatever rate
/// its AT commands give the module.
///
/// ```swift
/// var module = HM10Module(PumpFirmware())
/// module.take(.connected, at: .zero)
/// module.take(.wrote(Array("STATUS\n".utf8), to: "FFE1", mtu: 23), at: .zero)
/// for notification in module.advance(to: .seconds(1)) { print(notification.bytes) }
/// ```
public struct HM10Module<Device: SimulatedDevice>: SimulatedPeripheral {
    /// The most bytes of a notification, which fit into the smallest packets of BLE.
    public static var packetLength: Int { ModuleFirmware.packetLength }
    /// The silence of the UART after which fewer than ``packetLength`` bytes are notified.
    public static var patience: Duration { ModuleFirmware.patience }

    /// The device behind the module.
    public var device: Device
    public let offered: PeripheralDescription

    private let lineRate: LineRate
    private var now = Duration.zero
    private var firmware: ModuleFirmware
    private var emissions: [Emission] = []
    private var carrierEvents: [CarrierEvent] = []

    /// Creates a genuine HM-10 that is switched on, without a connected central.
    ///
    /// - Parameters:
    ///   - device: The device behind the module.
    ///   - name: The name over BLE.
    ///   - lineRate: The rate of the UART between the device and the module, which must be that of `device`.
    public init(_ device: Device, name: String = "HMSoft", lineRate: LineRate = .baud(9600)) {
        self.init(device, ModuleDialect.hm10, name: name, lineRate: lineRate)
    }

    /// Creates a module that speaks a dialect of AT commands.
    ///
    /// - Parameter notifiesUART: Whether the module reports connecting and leaving centrals to the device.
    package init(
        _ device: Device, _ dialect: ModuleDialect, name: String, lineRate: LineRate = .baud(9600),
        notifiesUART: Bool = false
    ) {
        self.device = device
        self.lineRate = lineRate
        // The rate that the module reports in answer to AT commands. An unpaced line has none, so the module says 9600.
        var rate = 9600
        if case .baud(let given) = lineRate { rate = given }
        firmware = ModuleFirmware(dialect, name: name, baudRate: rate, notifiesUART: notifiesUART)
        offered = .module(name: name)
    }

    // MARK: Centrals

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        run(to: instant)
        switch event {
        case .connected: firmware.connect(at: now)
        case .disconnected: firmware.disconnect(at: now)
        case .wrote(let bytes, _, _): receive(bytes, at: instant)
        case .subscribed, .unsubscribed: break
        }
        act()
    }

    // MARK: The device

    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        device.receive(bytes, at: max(instant, now))
    }

    public mutating func reset(at instant: Duration) {
        run(to: instant)
        device.reset(at: instant)
    }

    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) {
        run(to: instant)
        device.setStuck(isStuck, at: instant)
    }

    /// Returns, once, the carrier events since the last call: the module drops its connections when an AT command of
    /// the device demands it.
    public mutating func takeCarrierEvents() -> [CarrierEvent] {
        defer { carrierEvents = [] }
        return carrierEvents
    }

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: instant)
        defer { emissions = [] }
        return emissions
    }

    public var nextActivity: Duration? {
        emissions.isEmpty ? [device.nextActivity, firmware.nextActivity].compactMap { $0 }.min() : now
    }

    public var isQuiescent: Bool { device.isQuiescent && firmware.isQuiescent && emissions.isEmpty }

    public var owesReply: Bool { device.owesReply || !firmware.isQuiescent || !emissions.isEmpty }

    public static var urgentCommands: [String] { Device.urgentCommands }

    public static var commandFraming: CommandFraming { Device.commandFraming }

    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        Device.objection(to: command, isPacket: isPacket)
    }

    public static var isStream: Bool { true }

    /// The verbs of the device behind the module.
    public static var verbs: [DeviceVerb<HM10Module>] {
        Device.verbs.map { $0.of(\.device) }
    }

    public static var settings: [DeviceSetting<HM10Module>] { Device.settings.map { $0.of(\.device) } }

    public var observations: [String: ObservedValue] { device.observations }

    private mutating func run(to limit: Duration) {
        while let next = [device.nextActivity, firmware.nextActivity].compactMap({ $0 }).min(), next <= limit {
            step(to: max(now, next))
        }
        step(to: max(now, limit))
    }

    private mutating func step(to instant: Duration) {
        for printed in device.advance(to: instant) {
            // The time of an emission is that of its last byte; the bytes before have left at the line rate.
            for (index, byte) in printed.bytes.enumerated() {
                firmware.receive(byte, at: printed.time - lineRate.timePerByte * (printed.bytes.count - 1 - index))
            }
        }
        firmware.run(to: instant)
        now = instant
        act()
    }

    /// Performs the actions of the module's firmware.
    private mutating func act() {
        for (action, time) in firmware.takeActions() {
            switch action {
            case .says(let bytes): device.receive(bytes, at: time)
            case .notifies(let bytes):
                emissions.append(Emission(bytes: bytes, time: time, characteristic: "FFE1"))
            case .hangsUp: carrierEvents.append(CarrierEvent(action: .hangUp, time: time))
            // The line between the device and the module keeps its rate: see the comment of the type.
            case .changesRate: break
            }
        }
    }
}

extension PeripheralDescription {
    /// Returns the description of a module, as centrals find it.
    static func module(name: String) -> PeripheralDescription {
        PeripheralDescription(
            name: name,
            services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
    }
}
