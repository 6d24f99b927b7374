public import BlueZ
public import FirmwareSim
package import ModuleDialects

/// An HM-10 on the UART of a simulated device, or one of its clones: what the device prints is notified, and what a central
/// writes arrives on its line.
///
/// The module knows nothing of lines. It notifies what it has when it has 20 bytes, or when the UART falls silent, and so
/// cuts lines anywhere and joins what is printed in one go. While no central is connected what the device prints is lost,
/// but for AT commands, which are answered to the device. The device keeps its baud rate, whatever it sets the module to.
///
/// ```swift
/// var module = HM10Module(PumpFirmware())
/// module.take(.connected, at: .zero)
/// module.take(.wrote(Array("STATUS\n".utf8), to: "FFE1", mtu: 23), at: .zero)
/// for notification in module.advance(to: .seconds(1)) { print(notification.bytes) }
/// ```
public struct HM10Module<Device: SimulatedDevice>: SimulatedPeripheral {
    /// The most bytes of a notification: what the smallest packets of BLE hold.
    public static var packetLength: Int { ModuleFirmware.packetLength }
    /// How long the UART is silent before fewer bytes are notified.
    public static var patience: Duration { ModuleFirmware.patience }

    /// The device behind the module.
    public var device: Device
    public let offered: PeripheralDescription

    private let lineRate: LineRate
    private var now = Duration.zero
    private var firmware: ModuleFirmware
    private var emissions: [Emission] = []
    private var carrierEvents: [CarrierEvent] = []

    /// A genuine HM-10 that is switched on, to which no central is connected.
    ///
    /// - Parameter lineRate: The baud rate that the device and the module are set to.
    public init(_ device: Device, name: String = "HMSoft", lineRate: LineRate = .baud(9600)) {
        self.init(device, ModuleDialect.hm10, name: name, lineRate: lineRate)
    }

    /// - Parameter notifiesUART: Whether the device is told of centrals that come and go.
    package init(
        _ device: Device, _ dialect: ModuleDialect, name: String, lineRate: LineRate = .baud(9600),
        notifiesUART: Bool = false
    ) {
        self.device = device
        self.lineRate = lineRate
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

    /// It hangs up on its centrals where the device tells it to.
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

    public static var urgentCommands: [String] { Device.urgentCommands }

    public static var commandFraming: CommandFraming { Device.commandFraming }

    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        Device.objection(to: command, isPacket: isPacket)
    }

    public static var isStream: Bool { true }

    /// What is done to the device behind the module.
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
            for (index, byte) in printed.bytes.enumerated() {
                firmware.receive(byte, at: printed.time - lineRate.timePerByte * (printed.bytes.count - 1 - index))
            }
        }
        firmware.run(to: instant)
        now = instant
        act()
    }

    private mutating func act() {
        for (action, time) in firmware.takeActions() {
            switch action {
            case .says(let bytes): device.receive(bytes, at: time)
            case .notifies(let bytes):
                emissions.append(Emission(bytes: bytes, time: time, characteristic: "FFE1"))
            case .hangsUp: carrierEvents.append(CarrierEvent(action: .hangUp, time: time))
            case .changesRate: break
            }
        }
    }
}

extension PeripheralDescription {
    /// What centrals find of such a module.
    static func module(name: String) -> PeripheralDescription {
        PeripheralDescription(
            name: name,
            services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
    }
}
