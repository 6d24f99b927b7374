/// A command to the LED board.
public enum LEDCommand: Sendable, Hashable {
    /// Queries a value.
    case read(LEDEndpoint)
    /// Sets a value.
    case write(LEDEndpoint, LEDValue)

    /// The command as text on a line, without the line end.
    public var text: String {
        switch self {
        case .read(let endpoint): endpoint.lineName
        case .write(let endpoint, let value): "\(endpoint.lineName):\(value.text)"
        }
    }
}
