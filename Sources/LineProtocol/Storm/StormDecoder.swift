/// Tells the stored log, the live rows and the echo of the command apart, without gathering the log.
///
/// A prefix counts at the beginning of a line; where the link keeps packet bounds, at the beginning of a packet, since a
/// notification has no line end. Text without a known prefix is of the log.
///
///     var decoder = StormDecoder(of: .backup, keepsPacketBounds: link.keepsPacketBounds)
///     for piece in decoder.append(bytes) { … }
public struct StormDecoder: Sendable {
    /// The longest live row in bytes. The rest of a longer one is taken for text of the log.
    public static let rowLimit = 1024

    private enum State {
        /// Within the first bytes of a line, which may become a prefix.
        case lineBegins
        /// Right behind `LOG Values: `.
        case logBegins
        case log
        /// Behind a `\r` of the log.
        case logReturned
        case liveRow
        /// Behind a `\r` that ended a line which is not of the log.
        case returned
    }

    private static let echo = Array("GET_LOG".utf8)
    private static let logPrefix = Array("LOG Values: ".utf8)
    static var logPrefixLength: Int { logPrefix.count }
    private static let livePrefix = Array("LIVE LOG: ".utf8)

    private let characteristic: StormCharacteristic
    private let keepsPacketBounds: Bool
    private var state: State
    /// The first bytes of a line, or of a live row, that are not decided upon.
    private var held: [UInt8] = []

    /// A decoder of what `characteristic` brings; a serial line is as ``StormCharacteristic/backup``.
    public init(of characteristic: StormCharacteristic = .backup, keepsPacketBounds: Bool) {
        self.characteristic = characteristic
        self.keepsPacketBounds = keepsPacketBounds
        state = characteristic == .live ? .liveRow : .lineBegins
    }

    /// Whether a live row has begun whose end has not come.
    public var isWithinRow: Bool { state == .liveRow && (characteristic == .backup || !held.isEmpty) }

    /// Takes in what arrived; the pieces that this makes out.
    public mutating func append(_ bytes: [UInt8]) -> [StormPiece] {
        keepsPacketBounds ? packet(bytes) : stream(bytes)
    }

    /// What was held back of the log because it might have become a prefix, now that nothing follows.
    ///
    /// A live row that was cut is left out: its value may have lost digits.
    public mutating func finish() -> [StormPiece] {
        defer { self = StormDecoder(of: characteristic, keepsPacketBounds: keepsPacketBounds) }
        guard state == .lineBegins, !held.isEmpty, held != Self.echo else { return [] }
        return [.log(held)]
    }

    // MARK: Packets

    private func packet(_ bytes: [UInt8]) -> [StormPiece] {
        if characteristic == .live { return Self.row(bytes[...]) }
        if bytes.starts(with: Self.livePrefix) { return Self.row(bytes.dropFirst(Self.livePrefix.count)) }
        if bytes.starts(with: Self.logPrefix) {
            let text = bytes.dropFirst(Self.logPrefix.count)
            return [.logBegins] + (text.isEmpty ? [] : [.log(Array(text))])
        }
        return bytes.isEmpty || bytes.withoutLineEnd.elementsEqual(Self.echo) ? [] : [.log(bytes)]
    }

    private static func row(_ bytes: ArraySlice<UInt8>) -> [StormPiece] {
        let row = bytes.withoutLineEnd
        return row.isEmpty ? [] : [.live(Array(row))]
    }

    // MARK: A stream

    private mutating func stream(_ bytes: [UInt8]) -> [StormPiece] {
        var pieces: [StormPiece] = []
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        func add(_ piece: StormPiece) {
            if !text.isEmpty { pieces.append(.log(text)) }
            text.removeAll(keepingCapacity: true)
            pieces.append(piece)
        }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .lineBegins where held.isEmpty && byte != UInt8(ascii: "G") && byte != UInt8(ascii: "L"):
                state = .log
            case .lineBegins:
                held.append(byte)
                index += 1
                if held == Self.logPrefix {
                    add(.logBegins)
                    begin(.logBegins)
                } else if held == Self.livePrefix {
                    begin(.liveRow)
                } else if byte.isLineEnd, held.dropLast().elementsEqual(Self.echo) {
                    begin(behind: byte)
                } else if !Self.prefixes.contains(where: { $0.starts(with: held) }) {
                    // The byte may end the line: it is looked at again.
                    index -= 1
                    text += held.dropLast()
                    begin(.log)
                }
            case .logBegins:
                // Nothing but a line end: the log is empty, or begins on the next line.
                if byte.isLineEnd {
                    index += 1
                    begin(behind: byte)
                } else {
                    state = .log
                }
            case .log:
                let end = bytes.firstLineEnd(from: index)
                if let end { state = bytes[end] == .carriageReturn ? .logReturned : .lineBegins }
                let next = end.map { $0 + 1 } ?? bytes.count
                text += bytes[index..<next]
                index = next
            case .logReturned:
                if byte == .lineFeed {
                    text.append(byte)
                    index += 1
                }
                state = .lineBegins
            case .liveRow:
                let end = bytes.firstLineEnd(from: index) ?? bytes.count
                let next = min(end, index + Self.rowLimit - held.count)
                held += bytes[index..<next]
                index = next
                if next < end || next < bytes.count {
                    if !held.isEmpty { add(.live(held)) }
                    if next < end { begin(restOfRow) } else { begin(behind: bytes[end]); index += 1 }
                }
            case .returned:
                if byte == .lineFeed { index += 1 }
                state = start
            }
        }
        if !text.isEmpty { pieces.append(.log(text)) }
        return pieces
    }

    private static let prefixes = [echo, logPrefix, livePrefix]

    /// What a line begins as.
    private var start: State { characteristic == .live ? .liveRow : .lineBegins }

    /// What a row that is too long goes on as.
    private var restOfRow: State { characteristic == .live ? .liveRow : .log }

    private mutating func begin(_ state: State) {
        self.state = state
        held.removeAll(keepingCapacity: true)
    }

    /// A line that is not of the log has ended by `lineEnd`.
    private mutating func begin(behind lineEnd: UInt8) { begin(lineEnd == .carriageReturn ? .returned : start) }
}

extension UInt8 {
    var isLineEnd: Bool { self == .lineFeed || self == .carriageReturn }
}

extension [UInt8] {
    /// The index of the first `\n` or `\r`.
    fileprivate func firstLineEnd(from start: Int) -> Int? {
        withUnsafeBytes { ByteSearch.first(.lineFeed, or: .carriageReturn, in: $0, from: start) }
    }

    fileprivate var withoutLineEnd: ArraySlice<UInt8> { self[...].withoutLineEnd }
}

extension ArraySlice<UInt8> {
    /// Without the `\n` and `\r` at its end.
    fileprivate var withoutLineEnd: ArraySlice<UInt8> {
        prefix(through: lastIndex { !$0.isLineEnd } ?? startIndex - 1)
    }
}
