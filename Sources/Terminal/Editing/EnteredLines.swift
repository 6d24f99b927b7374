/// The lines entered at a ``LineScreen``, whether a person types them or a pipe delivers them in arbitrary pieces.
///
/// ```swift
/// var entered = EnteredLines()
/// for input in screen.take(event) {
///     for line in entered.take(input) { screen.print("\(line.count) bytes") }
/// }
/// ```
public struct EnteredLines: Sendable {
    /// The received part of an unfinished line.
    private var text: [UInt8] = []

    /// Creates an empty collector.
    public init() {}

    /// Returns the lines that `input` completes, without their LF or CRLF. The end of the input completes an unfinished
    /// line.
    public mutating func take(_ input: LineScreen.Input) -> [[UInt8]] {
        switch input {
        case .line(let line): [line]
        case .bytes(let bytes): append(bytes)
        case .end: text.isEmpty ? [] : append([0x0A])
        }
    }

    private mutating func append(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines = (text + bytes).split(separator: 0x0A, omittingEmptySubsequences: false)
        text = Array(lines.removeLast())
        return lines.map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
    }
}
