/// The meaning of a line from the LED board.
public enum LEDMessage: Sendable, Hashable {
    /// A value, such as `LED:1`, as a reply or unsolicited.
    case value(LEDEndpoint, LEDValue)
    /// A line that the protocol does not define, unchanged.
    case unknown([UInt8])

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - line: The line without its end.
    ///   - ending: The way in which the line ended. A line that the framer has cut becomes ``unknown(_:)``.
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
