/// What one line of the LED board means.
public enum LEDMessage: Sendable, Hashable {
    /// `LED:1`: a value, asked for or told unasked.
    case value(LEDEndpoint, LEDValue)
    /// A line that is nothing of the protocol, as it came.
    case unknown([UInt8])

    /// What `line` means.
    public init(line: Span<UInt8>, ending: LineEnding = .lineFeed) {
        let bytes = line.withUnsafeBufferPointer { Array($0) }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard ending != .cut, parts.count == 2,
            let endpoint = LEDEndpoint.all.first(where: { parts[0].elementsEqual($0.lineName.utf8) }),
            let value = endpoint.kind.value(text: String(decoding: parts[1], as: UTF8.self))
        else {
            self = .unknown(bytes)
            return
        }
        self = .value(endpoint, value)
    }
}
