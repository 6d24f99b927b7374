public import BlueZ
public import FirmwareSim

/// An HM-10 on the UART of a simulated device: what the device prints is notified, and what a central writes arrives on
/// its line.
///
/// The module knows nothing of lines. It notifies what it has when it has 20 bytes, or when the UART falls silent, and so
/// cuts lines anywhere and joins what is printed in one go. While no central is connected what the device prints is lost,
/// but for `AT` commands, which have no line end and are answered to the device.
///
/// ```swift
/// var module = HM10Module(PumpFirmware())
/// module.take(.connected, at: .zero)
/// module.take(.wrote(Array("STATUS\n".utf8), to: "FFE1", mtu: 23), at: .zero)
/// for notification in module.advance(to: .seconds(1)) { print(notification.bytes) }
/// ```
public struct HM10Module<Device: SimulatedDevice>: SimulatedPeripheral {
    /// The most bytes of a notification: what the smallest packets of BLE hold.
    public static var packetLength: Int { 20 }
    /// How long the UART is silent before fewer bytes are notified.
    public static var patience: Duration { .milliseconds(6) }
    /// The most bytes that are looked at as a command.
    private static var longestCommand: Int { 32 }

    /// The device behind the module.
    public var device: Device
    public let offered: PeripheralDescription

    private let lineRate: LineRate
    private var now = Duration.zero
    private var centrals = 0
    /// What the device has printed since the last notification, or since the UART was silent.
    private var collected: [UInt8] = []
    private var lastByteTime = Duration.zero
    private var emissions: [Emission] = []

    /// A module that is switched on, to which no central is connected.
    ///
    /// - Parameter lineRate: The baud rate that the device and the module are set to.
    public init(_ device: Device, name: String = "HMSoft", lineRate: LineRate = .baud(9600)) {
        self.device = device
        self.lineRate = lineRate
        offered = PeripheralDescription(
            name: name,
            services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
    }

    // MARK: Centrals

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        run(to: instant)
        switch event {
        case .connected: setCentrals(centrals + 1)
        case .disconnected: setCentrals(max(0, centrals - 1))
        case .wrote(let bytes, _, _): receive(bytes, at: instant)
        case .subscribed, .unsubscribed: break
        }
    }

    private mutating func setCentrals(_ count: Int) {
        if (count == 0) != (centrals == 0) { collected = [] }
        centrals = count
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

    public mutating func advance(to instant: Duration) -> [Emission] {
        run(to: instant)
        defer { emissions = [] }
        return emissions
    }

    public var nextActivity: Duration? {
        emissions.isEmpty ? [device.nextActivity, silence].compactMap { $0 }.min() : now
    }

    public var isQuiescent: Bool { device.isQuiescent && collected.isEmpty && emissions.isEmpty }

    public static var urgentCommands: [String] { Device.urgentCommands }

    /// What is done to the device behind the module.
    public static var verbs: [DeviceVerb<HM10Module>] {
        Device.verbs.map { verb in
            DeviceVerb(verb.name, verb.arguments, help: verb.help) { verb.perform(&$0.device, $1, $2) }
        }
    }

    public var observations: [String: ObservedValue] { device.observations }

    /// When the UART will have been silent long enough; nil while nothing waits for that.
    private var silence: Duration? { collected.isEmpty ? nil : lastByteTime + Self.patience }

    private mutating func run(to limit: Duration) {
        while let next = [device.nextActivity, silence].compactMap({ $0 }).min(), next <= limit {
            step(to: max(now, next))
        }
        step(to: max(now, limit))
    }

    private mutating func step(to instant: Duration) {
        for printed in device.advance(to: instant) {
            for (index, byte) in printed.bytes.enumerated() {
                collect(byte, at: printed.time - lineRate.timePerByte * (printed.bytes.count - 1 - index))
            }
        }
        if let silence, silence <= instant { endOfBurst(at: silence) }
        now = instant
    }

    private mutating func collect(_ byte: UInt8, at time: Duration) {
        if let silence, silence < time { endOfBurst(at: silence) }
        lastByteTime = time
        if centrals > 0 {
            collected.append(byte)
            if collected.count == Self.packetLength { endOfBurst(at: time) }
        } else if collected.count <= Self.longestCommand {
            collected.append(byte)
        }
    }

    private mutating func endOfBurst(at time: Duration) {
        let bytes = collected
        collected = []
        if centrals > 0 {
            emissions.append(Emission(bytes: bytes, time: time, characteristic: "FFE1"))
        } else if let answer = answer(to: String(decoding: bytes, as: UTF8.self)) {
            device.receive(Array(answer.utf8), at: time)
        }
    }

    private func answer(to command: String) -> String? {
        switch command {
        case "AT": "OK"
        case "AT+BAUD?": "OK+Get:\(baudCode)"
        default: nil
        }
    }

    /// The digit that the module has for a baud rate.
    private var baudCode: Int {
        guard case .baud(let rate) = lineRate else { return 0 }
        return [9600, 19200, 38400, 57600, 115_200, 4800, 2400, 1200, 230_400].firstIndex(of: rate) ?? 0
    }
}
