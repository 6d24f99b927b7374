/// A device in simulated time, which receives and sends bytes.
///
/// Instants are durations since the simulation began. Time never goes back: an instant in the device's past counts as
/// the device's present instant.
///
/// ```swift
/// var pump = PumpFirmware()
/// pump.receive(Array("TEMP\n".utf8), at: .zero)
/// for emission in pump.advance(to: .seconds(1)) {
///     print(emission.time, String(decoding: emission.bytes, as: UTF8.self))
/// }
/// ```
public protocol SimulatedDevice: Sendable {
    /// Receives bytes from the far end of the line.
    ///
    /// The first start bit falls on `instant`, or as soon after it as earlier bytes and the line rate allow.
    mutating func receive(_ bytes: [UInt8], at instant: Duration)

    /// Tells the device that a host has opened the line or subscribed, at `instant`. Most devices can't detect this.
    mutating func hostCame(at instant: Duration)

    /// Tells the device that nobody has the line open any more. Most devices can't detect this.
    mutating func lineLeft(at instant: Duration)

    /// Runs the device up to and including `instant`.
    ///
    /// - Returns: The output since the previous call, in order.
    mutating func advance(to instant: Duration) -> [Emission]

    /// The instant of the device's next activity of its own (a loop turn, a byte leaving); `nil` for never.
    ///
    /// Before this instant the device sends nothing, unless another call such as ``receive(_:at:)`` changes the device.
    var nextActivity: Duration? { get }

    /// Whether the device has finished with all that it received: no byte on its way or unread, no command waiting, no
    /// output in its UART.
    ///
    /// The beginning of an unfinished line counts as read, so a device that holds such a beginning may be quiescent.
    var isQuiescent: Bool { get }

    /// Whether the device has yet to handle a command or to finish a reply; by default, whether the device is not
    /// quiescent. Output that a fault repeats does not count.
    var owesReply: Bool { get }

    /// Resets the board, as the line's DTR does when it goes active. Output that has not left is lost.
    ///
    /// The caller runs the device up to `instant` first, by ``advance(to:)``: not every device does so itself.
    mutating func reset(at instant: Duration)

    /// Keeps the device in an error state until this function is called with `false`. Most devices have no error state.
    mutating func setStuck(_ isStuck: Bool, at instant: Duration)

    /// Gives the device a fault of its own, by a name from ``SimulatorOption/faults(own:anywhere:senseless:)``; nil
    /// ends the fault. Most devices have no faults of their own.
    mutating func setOwnFault(_ name: String?, at instant: Duration)

    /// Returns, once, the actions of the device and its faults on the carrier since the last call, in order. Usually
    /// there are none. ``DeviceHost`` passes the actions to the server that offers the device, which performs them.
    mutating func takeCarrierEvents() -> [CarrierEvent]

    /// Returns, once, the scenario steps that failed since the last call, in order. ``DeviceHost`` passes them to its
    /// judge and to the handlers of ``DeviceHandle/onStepFailure(_:)``.
    mutating func takeStepFailures() -> [StepFailure]

    /// Whether the device uses the host's baud rate. Only a ``FaultyDevice`` with the fault `baud` does; a real device
    /// can't know the rate.
    var heedsHostBaudRate: Bool { get }

    /// Sets the baud rate of the host's end of the line, in bits per second. ``DeviceHost`` calls this before each
    /// ``receive(_:at:)`` and ``advance(to:)``, if ``heedsHostBaudRate`` is true and the rate is known.
    mutating func setHostBaudRate(_ rate: Int)

    /// The commands that a host may send at any moment, even before the reply to an earlier command, because they make
    /// the device safe. Letter case does not matter.
    static var urgentCommands: [String] { get }

    /// The framing of the host's commands.
    static var commandFraming: CommandFraming { get }

    /// Checks a command against the device's protocol. The firmware may accept more than its protocol allows.
    ///
    /// - Parameters:
    ///   - command: A line without its end, a JSON object, or a whole BLE write. A line of more than 256 bytes may be
    ///     cut off.
    ///   - isPacket: Whether `command` is a whole BLE write.
    /// - Returns: The objection, as a clause that follows the command, such as "is not a command"; nil if there is none.
    static func objection(to command: [UInt8], isPacket: Bool) -> String?

    /// Whether BLE packets are pieces of a stream of lines, as from a module with a UART behind it. If not, each packet
    /// is a whole message. A command that is a JSON object may span several packets in either case.
    static var isStream: Bool { get }

    /// The actions of people and the environment on the running device; none by default.
    static var verbs: [DeviceVerb<Self>] { get }

    /// The options that can change while the device runs; none by default.
    static var settings: [DeviceSetting<Self>] { get }

    /// The state that a person next to the device could observe, at the instant that the device has reached. If a value
    /// has a unit, its key ends in the unit.
    var observations: [String: ObservedValue] { get }
}

extension SimulatedDevice {
    public var owesReply: Bool { !isQuiescent }

    public static var urgentCommands: [String] { [] }

    public static var commandFraming: CommandFraming { .lines }

    public static func objection(to command: [UInt8], isPacket: Bool) -> String? { nil }

    public static var isStream: Bool { false }

    public static var verbs: [DeviceVerb<Self>] { [] }

    public static var settings: [DeviceSetting<Self>] { [] }

    public var observations: [String: ObservedValue] { [:] }

    public mutating func setStuck(_ isStuck: Bool, at instant: Duration) {}

    public mutating func setOwnFault(_ name: String?, at instant: Duration) {}

    public mutating func takeCarrierEvents() -> [CarrierEvent] { [] }

    public mutating func takeStepFailures() -> [StepFailure] { [] }

    public var heedsHostBaudRate: Bool { false }

    public mutating func setHostBaudRate(_ rate: Int) {}

    public mutating func hostCame(at instant: Duration) {}

    public mutating func lineLeft(at instant: Duration) {}
}

/// The framing of commands to a device.
public enum CommandFraming: Sendable, Hashable {
    /// One command per line; over BLE one command per write, unless packets are pieces of a stream.
    case lines
    /// One command per JSON object.
    case objects
}

/// Bytes that a device put on the line back to back, or one packet that the device notified.
public struct Emission: Sendable, Hashable {
    /// The bytes, at least one.
    public var bytes: [UInt8]
    /// The instant at which the last bit of the last byte left the UART, or, if faults delay the bytes, arrives.
    public var time: Duration
    /// The characteristic that notified of the bytes, as the 128 bits of its UUID; nil for bytes on a line. A number,
    /// because this library does not import BlueZ.
    public var output: UInt128?
    /// Whether a fault repeats the bytes. A host need not wait for them.
    public var isRepetition = false

    /// Creates an emission of `bytes` that ended at `time`.
    public init(bytes: [UInt8], time: Duration, output: UInt128? = nil) {
        self.bytes = bytes
        self.time = time
        self.output = output
    }
}
