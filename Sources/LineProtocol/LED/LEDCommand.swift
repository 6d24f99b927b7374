/// What a host can ask of the LED board.
public enum LEDCommand: Sendable, Hashable {
    /// Asks for a value.
    case read(LEDEndpoint)
    /// Sets a value.
    case write(LEDEndpoint, LEDValue)

    /// The command as it is written on a line, without its end.
    public var text: String {
        switch self {
        case .read(let endpoint): endpoint.lineName
        case .write(let endpoint, let value): "\(endpoint.lineName):\(value.text)"
        }
    }
}
