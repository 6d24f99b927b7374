/// The pump on an Arduino Nano, with its line protocol.
public enum PumpFamily: DeviceFamily {
    public typealias Command = PumpCommand
    public typealias Message = PumpMessage
    public typealias Reply = PumpReply
    public typealias Exchange = PumpExchange
    public typealias State = PumpState

    /// The longest status line has about 100 bytes. The limit leaves room for future firmware.
    public static let lineLimit = 1024

    public static func encode(_ command: PumpCommand) -> [UInt8] {
        switch command {
        case .status: statusBytes
        default: bytes(of: command)
        }
    }

    private static func bytes(of command: PumpCommand) -> [UInt8] { Array(command.text.utf8) + [.lineFeed] }

    /// The bytes of the most frequent command.
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
    /// line. Until the end of the turn the UART keeps 63 bytes, and loses the rest.
    public static let readingTime = Duration.milliseconds(200)

    /// No command ends in 999. A bare line end could complete a half-sent `SPEED:2`, and so could a letter, since the
    /// firmware reads numbers by `atoi`. With these digits any speed is out of range, even if 16 bits overflow.
    public static let lineSpoiler = Array("999\n".utf8)

    /// A line end. By the pump protocol, an empty line is ignored.
    public static let changePrefix: [UInt8] = [.lineFeed]

    public static var statusQuery: PumpCommand? { .status }

    /// A status of ERROR does not count as safe: the pump stands still then, but `OFF` also leaves that state.
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
