/// The LED board with its line protocol.
public enum LEDFamily: DeviceFamily {
    public typealias Command = LEDCommand
    public typealias Message = LEDMessage
    public typealias Reply = LEDValue
    public typealias Exchange = LEDExchange
    public typealias State = LEDState

    /// 256 bytes: more than any line of the protocol needs, and enough for the lines that an ESP32 prints while it
    /// boots.
    public static let lineLimit = 256

    public static func encode(_ command: LEDCommand) -> [UInt8] { Array(command.text.utf8) + [.lineFeed] }

    public static func effect(of command: LEDCommand) -> CommandEffect {
        switch command {
        case .read: .query
        case .write: .change
        }
    }

    public static func message(line: Span<UInt8>, ending: LineEnding) -> LEDMessage {
        LEDMessage(line: line, ending: ending)
    }

    public static func isForeign(_ message: LEDMessage) -> Bool {
        if case .unknown = message { true } else { false }
    }

    /// Whether `message` is the line with the cause of a restart, which the boot ROM of an ESP32 prints (rule led-10).
    public static func isStart(_ message: LEDMessage) -> Bool {
        if case .unknown(let line) = message { line.starts(with: "rst:0x".utf8) } else { false }
    }

    public static func exchange(for command: LEDCommand) -> LEDExchange { LEDExchange(command) }

    /// nil, because the board may report a value unsolicited, so no reply separates new lines from stale ones.
    public static var fence: LEDCommand? { nil }

    public static var statusQuery: LEDCommand? { .read(.led) }
}
