/// What a host can ask of the LED board.
public enum LEDCommand: Sendable, Hashable {
    /// Asks for a value.
    case read(LEDEndpoint)
    /// Sets a value.
    case write(LEDEndpoint, LEDValue)

    /// The command that stands on a line; nil if that line is none.
    public init?(line: Span<UInt8>, ending: LineEnding = .lineFeed) {
        if case .value(let endpoint, let value) = LEDMessage(line: line, ending: ending) {
            self = .write(endpoint, value)
        } else {
            let name = line.withUnsafeBufferPointer { Array($0) }
            guard ending != .cut,
                let endpoint = LEDEndpoint.all.first(where: { name.elementsEqual($0.lineName.utf8) })
            else { return nil }
            self = .read(endpoint)
        }
    }

    /// The command as it is written on a line, without its end.
    public var text: String {
        switch self {
        case .read(let endpoint): endpoint.lineName
        case .write(let endpoint, let value): "\(endpoint.lineName):\(value.text)"
        }
    }
}
