/// The pump on an Arduino Nano, with its line protocol.
public enum PumpFamily: DeviceFamily {
    public typealias Command = PumpCommand
    public typealias Message = PumpMessage
    public typealias Reply = PumpReply
    public typealias Exchange = PumpExchange
    public typealias State = PumpState

    /// 1024 bytes. The longest status line has about 100 bytes; future firmware may send longer ones.
    public static let lineLimit = 1024

    public static func encode(_ command: PumpCommand) -> [UInt8] {
        switch command {
        case .status: statusBytes
        default: bytes(of: command)
        }
    }

    private static func bytes(of command: PumpCommand) -> [UInt8] { Array(command.text.utf8) + [.lineFeed] }

    /// The bytes of STATUS, the most frequent command, encoded once.
    private static let statusBytes = bytes(of: .status)

    public static func effect(of command: PumpCommand) -> CommandEffect {
        switch command {
        case .status, .temperature: .query
        case .on, .speed: .change
        case .off: .stop
        }
    }

    public static func message(line: Span<UInt8>, ending: LineEnding) -> PumpMessage {
        PumpMessage(line: line, ending: ending)
    }

    public static func isForeign(_ message: PumpMessage) -> Bool {
        if case .unknown = message { true } else { false }
    }

    /// Whether the message is the banner `HELLO:…`, or the line `Ready for commands...` of the longer banner.
    public static func isStart(_ message: PumpMessage) -> Bool {
        guard case .text(let text) = message else { return false }
        return text.hasPrefix("HELLO:") || text.hasPrefix("Ready for commands")
    }

    public static func exchange(for command: PumpCommand) -> PumpExchange { PumpExchange(command) }

    /// The reply `TEMP:…` is never unsolicited, unlike `STATUS:…`.
    public static var fence: PumpCommand? { .temperature }

    public static func isFence(_ command: PumpCommand) -> Bool { command == .temperature }

    public static func isFenceReply(_ message: PumpMessage) -> Bool {
        if case .temperatures = message { true } else { false }
    }

    /// 200 ms. By the pump protocol, a turn of the main loop takes 109 to 159 ms, and longer if the pump prints a long
    /// line. Until the end of the turn the UART keeps 63 bytes, and loses any more.
    public static let readingTime = Duration.milliseconds(200)

    /// `999` and a line end: no command ends in 999. A bare line end would complete a half-sent `SPEED:2`, and so would
    /// a letter and a line end, since the firmware reads numbers by `atoi`. With the digits 999 every speed from 0
    /// to 255 is out of range, even after an overflow of 16 bits.
    public static let lineSpoiler = Array("999\n".utf8)

    /// A line end, which ends a half-sent line. By the pump protocol, an empty line is ignored. The spoiler would make
    /// the pump answer each change with an error as well.
    public static let changePrefix: [UInt8] = [.lineFeed]

    public static var statusQuery: PumpCommand? { .status }

    /// `OFF`, until a status line says OFF. A status of ERROR does not count as safe, although the pump stands still:
    /// `OFF` also ends the error state.
    public static let stop: StopRule<PumpFamily>? = StopRule(
        .off, bytes: StopTable.pump, reply: .off,
        isAcknowledgement: { $0 == .pump(isOn: false) },
        // The button may be handled between the two lines of OFF's reply, and start the pump again.
        isUndone: { $0 == .manual(isOn: true) },
        unsafeState: { reply in
            guard case .status(let status) = reply else { return PumpStatus.Power.unknown.rawValue }
            return status.power == .off ? nil : status.power.rawValue.uppercased()
        })
}
