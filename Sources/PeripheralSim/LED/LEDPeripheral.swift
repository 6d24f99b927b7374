public import BlueZ
public import FirmwareSim

/// The LED board over BLE: one characteristic holds its boolean in one byte, 0 for off and anything else for on.
///
/// ```swift
/// var board = LEDPeripheral()
/// board.take(.wrote([1], to: LEDPeripheral.led, mtu: 23), at: .zero)
/// board.isLit  // true
/// ```
public struct LEDPeripheral: SimulatedPeripheral {
    /// The service of the board.
    public static let service: BluetoothUUID = "937312E0-2354-11EB-9F10-FBC30A62CF38"
    /// The characteristic that holds the value.
    public static let led: BluetoothUUID = "957312E0-2354-11EB-9F10-FBC30A62CF38"

    /// Whether the LED is lit.
    public private(set) var isLit: Bool
    public let offered: PeripheralDescription

    /// Whether the board was offered with notifications.
    private let canNotify: Bool
    /// Whether the board notifies of changes now.
    private var notifies: Bool
    /// Whether the LED can't change.
    private var isStuck = false
    private var now = Duration.zero
    private var emissions: [Emission] = []

    /// Creates a board. By default, its LED is dark, and the board notifies of changes.
    public init(name: String = "ece196", isLit: Bool = false, notifies: Bool = true) {
        self.isLit = isLit
        self.notifies = notifies
        canNotify = notifies
        let flags: Set<LocalCharacteristic.Flag> = notifies ? [.read, .write, .notify] : [.read, .write]
        offered = PeripheralDescription(
            name: name, services: [LocalService(Self.service, [LocalCharacteristic(Self.led, flags)])])
    }

    /// Sets the LED to a written value. A write that is not one byte changes nothing.
    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        now = max(now, instant)
        guard case .wrote(let bytes, Self.led, _) = event, bytes.count == 1 else { return }
        set(bytes[0] != 0)
    }

    public mutating func read(_ characteristic: BluetoothUUID, at instant: Duration) -> [UInt8]? { value }

    /// Ignores the bytes: the board has no line.
    public mutating func receive(_ bytes: [UInt8], at instant: Duration) {}

    public mutating func advance(to instant: Duration) -> [Emission] {
        now = max(now, instant)
        defer { emissions = [] }
        return emissions
    }

    public var nextActivity: Duration? { emissions.isEmpty ? nil : now }

    public var isQuiescent: Bool { emissions.isEmpty }

    /// Resets the board: the LED goes dark unless it is stuck, and the board notifies of the change.
    public mutating func reset(at instant: Duration) {
        now = max(now, instant)
        set(false)
    }

    /// Sets whether the LED keeps its state, despite writes, resets and the verb `light`.
    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) { self.isStuck = isStuck }

    /// The verb that switches the LED at the board. The board notifies of this change as of any other change.
    public static var verbs: [DeviceVerb<LEDPeripheral>] {
        [
            LEDFirmware.lightVerb { board, isLit, now in
                board.now = max(board.now, now)
                board.set(isLit)
            }
        ]
    }

    public static var settings: [DeviceSetting<LEDPeripheral>] {
        [
            DeviceSetting(LEDFirmware.muteOption) { board, values, _ throws(DeviceVerbError) in
                let notifies = !values.flag("mute")
                guard board.canNotify || !notifies else {
                    throw .failed(
                        "the board was offered without notifications",
                        hint: "start the simulator without --mute, then: set mute on")
                }
                board.notifies = notifies
            }
        ]
    }

    public var observations: [String: ObservedValue] { ["lit": .boolean(isLit)] }

    private var value: [UInt8] { [isLit ? 1 : 0] }

    private mutating func set(_ isLit: Bool) {
        guard self.isLit != isLit, !isStuck else { return }
        self.isLit = isLit
        if notifies { emissions.append(Emission(bytes: value, time: now, characteristic: Self.led)) }
    }
}

extension LEDPeripheral {
    public static func objection(to command: [UInt8], isPacket: Bool) -> String? {
        LEDFirmware.objection(to: command, isPacket: isPacket)
    }
}
