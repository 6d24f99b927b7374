/// Recognizes the line that answers a command to the LED board.
public struct LEDExchange: CommandExchange {
    private let command: LEDCommand

    /// Creates an exchange that matches the line that answers `command`.
    public init(_ command: LEDCommand) { self.command = command }

    public mutating func take(_ message: LEDMessage) -> ExchangeVerdict<LEDValue> {
        switch (message, command) {
        case (.value(let endpoint, let value), .read(let asked)) where endpoint == asked: .complete(value)
        case (.value(let endpoint, let value), .write(let set, let wanted)) where endpoint == set && value == wanted:
            .complete(value)
        default: .unrelated
        }
    }
}
