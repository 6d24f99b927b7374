/// A command to the LED board.
public enum LEDCommand: Sendable, Hashable {
    /// Queries the value of an endpoint.
    case read(LEDEndpoint)
    /// Sets the value of an endpoint.
    case write(LEDEndpoint, LEDValue)

    /// The command as text on a line, without the line end.
    public var text: String {
        switch self {
        case .read(let endpoint): endpoint.lineName
        case .write(let endpoint, let value): "\(endpoint.lineName):\(value.text)"
        }
    }
}
