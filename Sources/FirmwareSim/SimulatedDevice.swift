/// A device in simulated time: bytes in, bytes out, nothing else.
///
/// Instants are durations since the simulation began. They only grow: an instant the device has already passed
/// is read as the one it has reached.
///
/// ```swift
/// var pump = PumpFirmware()
/// pump.receive(Array("TEMP\n".utf8), at: .zero)
/// for emission in pump.advance(to: .seconds(1)) {
///     print(emission.time, String(decoding: emission.bytes, as: UTF8.self))
/// }
/// ```
public protocol SimulatedDevice: Sendable {
    /// What the far end of the line sent.
    ///
    /// The first start bit falls on `instant`, or as soon after it as the bytes sent earlier and the line rate allow.
    mutating func receive(_ bytes: [UInt8], at instant: Duration)

    /// A host has opened the line, or has subscribed, at `instant`. Most devices don't notice.
    mutating func hostCame(at instant: Duration)

    /// Nobody has the line open any more. Most devices don't notice.
    mutating func lineLeft(at instant: Duration)

    /// Runs the device up to and including `instant`.
    ///
    /// - Returns: what it put on the line and has not returned before, in order.
    mutating func advance(to instant: Duration) -> [Emission]

    /// When the device next does anything of its own (a loop turn, a byte leaving); `nil` for never.
    ///
    /// Nothing that can be seen from outside changes before this instant, unless more bytes are received.
    var nextActivity: Duration? { get }

    /// Whether the device has nothing left to do about what it received: no byte on its way or unread, no command
    /// waiting, no output in its UART.
    ///
    /// The beginning of a line that has not ended is read, so a device that holds one may be quiescent.
    var isQuiescent: Bool { get }

    /// Whether it is not quiescent, but for what a fault has it say again.
    var owesReply: Bool { get }

    /// Resets the board, as the line's DTR does when it goes active.
    ///
    /// What left the UART before `instant` is still returned by the next ``advance(to:)``; the rest is lost.
    mutating func reset(at instant: Duration)

    /// Gets stuck in an error state that nothing but the end of this leaves. Most devices have none.
    mutating func setStuck(_ isStuck: Bool, at instant: Duration)

    /// Has the fault of its own of that name from now on, as ``SimulatorOption/faults(own:anywhere:senseless:)`` names it; nil
    /// for none. Most devices have none.
    mutating func setOwnFault(_ name: String?, at instant: Duration)

    /// What the device, or its faults, did to what carries its bytes, and was not returned before, in order. Most do nothing.
    mutating func takeCarrierEvents() -> [CarrierEvent]

    /// The steps of its scenario that could not be done, and were not returned before, in order.
    mutating func takeStepFailures() -> [StepFailure]

    /// Whether it wants to know what baud rate the host's end of the line is set to. Most devices can't.
    var heedsHostBaudRate: Bool { get }

    /// The host's end of the line is set to this baud rate, in bits per second. Told before anything goes over the line.
    mutating func setHostBaudRate(_ rate: Int)

    /// The commands that a host may send at any moment, also before the last one is answered: what makes the device safe.
    static var urgentCommands: [String] { get }

    /// How the commands of a host are told apart.
    static var commandFraming: CommandFraming { get }

    /// What is wrong with a command by the device's protocol, as a clause that follows it; nil where nothing is. What the device
    /// makes of it all the same does not count.
    ///
    /// - Parameters:
    ///   - command: A line without its end, or an object, or, where `isPacket`, a write over BLE as it is. Of a long line the
    ///     beginning.
    static func objection(to command: [UInt8], isPacket: Bool) -> String?

    /// Whether its packets over BLE are pieces of a stream of lines, as those of a module are that has a UART behind it, and
    /// not each a whole.
    static var isStream: Bool { get }

    /// What people and the world do to it while it runs; nothing, unless it says otherwise.
    static var verbs: [DeviceVerb<Self>] { get }

    /// Which of its options can be changed while it runs; none, unless it says otherwise.
    static var settings: [DeviceSetting<Self>] { get }

    /// What can be seen of it by one who stands beside it, by keys that end in their unit. The device has lived up to now.
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

/// How the commands that a device gets are told apart.
public enum CommandFraming: Sendable, Hashable {
    /// Each is a line; over BLE a write, unless packets are pieces of a stream.
    case lines
    /// Each is a JSON object.
    case objects
}

/// Bytes that a device put on the line back to back, or one packet that it notified.
public struct Emission: Sendable, Hashable {
    /// One byte or more.
    public var bytes: [UInt8]
    /// When the last bit of the last byte left the UART.
    public var time: Duration
    /// Which output of a device with several it left by; nil for a line. Over BLE: the 128 bits of a characteristic's
    /// UUID.
    public var output: UInt128?
    /// Whether a fault says it again: a host has no need to wait for it.
    public var isRepetition = false

    /// An emission of `bytes` that ended at `time`.
    public init(bytes: [UInt8], time: Duration, output: UInt128? = nil) {
        self.bytes = bytes
        self.time = time
        self.output = output
    }
}
