/// Splits the output of a storm sensor into the stored log and the live rows, piece by piece. Drops the echo of
/// `GET_LOG`.
///
/// `LOG Values: ` and `LIVE LOG: ` count as prefixes at the beginning of a line or, if the link keeps packet bounds, at
/// the beginning of a packet, since a notification has no line end. Text without a known prefix belongs to the log, or
/// is a live row on ``StormCharacteristic/live``.
///
///     var decoder = StormDecoder(of: .backup, keepsPacketBounds: link.keepsPacketBounds)
///     for piece in decoder.append(bytes) { … }
public struct StormDecoder: Sendable {
    /// The longest live row, in bytes, if the link does not keep packet bounds: far more than a measurement needs. The
    /// limit keeps input without line ends from filling the memory. On ``StormCharacteristic/backup`` the rest of a
    /// longer row counts as text of the log, on ``StormCharacteristic/live`` as another row.
    public static let rowLimit = 1024

    private enum State {
        /// Within the first bytes of a line, which may become a prefix.
        case lineBegins
        /// Directly after `LOG Values: `.
        case logBegins
        case log
        /// After a `\r` in the log.
        case logReturned
        case liveRow
        /// After a `\r` that ended a line outside the log.
        case returned
    }

    private static let echo = Array("GET_LOG".utf8)
    private static let logPrefix = Array("LOG Values: ".utf8)
    static var logPrefixLength: Int { logPrefix.count }
    private static let livePrefix = Array("LIVE LOG: ".utf8)

    private let characteristic: StormCharacteristic
    private let keepsPacketBounds: Bool
    private let keepsLineEndOfPrefix: Bool
    private var state: State
    /// The undecided first bytes of a line, or the bytes of an incomplete live row.
    private var held: [UInt8] = []

    /// Creates a decoder for the output of `characteristic`. A serial line carries the same data as
    /// ``StormCharacteristic/backup``. If the link keeps packet bounds, pass each packet to ``append(_:)`` separately.
    public init(of characteristic: StormCharacteristic = .backup, keepsPacketBounds: Bool) {
        self.init(of: characteristic, keepsPacketBounds: keepsPacketBounds, keepsLineEndOfPrefix: false)
    }

    /// - Parameter keepsLineEndOfPrefix: Whether a line end directly after the log's prefix counts as text of the log.
    ///   True for a relay that passes the log on byte for byte.
    package init(
        of characteristic: StormCharacteristic = .backup, keepsPacketBounds: Bool, keepsLineEndOfPrefix: Bool
    ) {
        self.characteristic = characteristic
        self.keepsPacketBounds = keepsPacketBounds
        self.keepsLineEndOfPrefix = keepsLineEndOfPrefix
        state = characteristic == .live ? .liveRow : .lineBegins
    }

    /// Whether a live row has begun and not ended.
    public var isWithinRow: Bool { state == .liveRow && (characteristic == .backup || !held.isEmpty) }

    /// Takes received bytes, and returns the pieces that they complete.
    public mutating func append(_ bytes: [UInt8]) -> [StormPiece] {
        keepsPacketBounds ? packet(bytes) : stream(bytes)
    }

    /// Returns the text of the log that was held back because it could have become a prefix. Call this function at the
    /// end of input. The decoder can then be used for a new stream.
    ///
    /// An incomplete live row is dropped: its value may have lost digits.
    public mutating func finish() -> [StormPiece] {
        defer {
            self = StormDecoder(
                of: characteristic, keepsPacketBounds: keepsPacketBounds, keepsLineEndOfPrefix: keepsLineEndOfPrefix)
        }
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
        let row = Array(bytes.withoutLineEnd).withoutNULs
        return row.isEmpty ? [] : [.live(row)]
    }

    // MARK: A stream

    /// The pieces from one call of ``append(_:)``. Adjacent bytes of the log form one piece.
    private struct Output {
        private var pieces: [StormPiece] = []
        /// Bytes of the log after the last piece.
        var text: [UInt8] = []

        mutating func add(_ piece: StormPiece) {
            if !text.isEmpty { pieces.append(.log(text)) }
            text.removeAll(keepingCapacity: true)
            pieces.append(piece)
        }

        /// Returns all pieces. Nothing may be added afterwards.
        func finish() -> [StormPiece] { text.isEmpty ? pieces : pieces + [.log(text)] }
    }

    private mutating func stream(_ bytes: [UInt8]) -> [StormPiece] {
        var output = Output()
        output.text.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if takeLines(bytes, &index, &output) { continue }
            switch state {
            case .lineBegins: beginLine(bytes, &index, &output)
            case .logBegins: beginLog(bytes, &index)
            case .log: takeLog(bytes, &index, &output)
            case .logReturned:
                if bytes[index] == .lineFeed { output.text.append(Self.take(bytes, &index)) }
                state = .lineBegins
            case .liveRow: takeRow(bytes, &index, &output)
            case .returned:
                if bytes[index] == .lineFeed { index += 1 }
                state = start
            }
        }
        return output.finish()
    }

    private static func take(_ bytes: [UInt8], _ index: inout Int) -> UInt8 {
        defer { index += 1 }
        return bytes[index]
    }

    /// Takes the lines of the log before the first byte with which a prefix may begin. Returns false if there are none.
    ///
    /// The rows of a log contain no such byte, so that usually all bytes are taken at once.
    private mutating func takeLines(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) -> Bool {
        guard state == .log || state == .logReturned || state == .lineBegins && held.isEmpty else { return false }
        var end = bytes.withUnsafeBytes { bytes in
            let window = UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, index + Self.windowLength)])
            let letter = ByteSearch.first(UInt8(ascii: "G"), or: UInt8(ascii: "L"), in: window, from: index)
            let rest = UnsafeRawBufferPointer(rebasing: window[..<(letter ?? window.count)])
            return ByteSearch.first(0, or: 0, in: rest, from: index) ?? rest.count
        }
        if end < bytes.count { while end > index, !bytes[end - 1].isLineEnd { end -= 1 } }
        guard end > index else { return false }
        output.text += bytes[index..<end]
        index = end
        state =
            switch bytes[end - 1] {
            case .lineFeed: .lineBegins
            case .carriageReturn: .logReturned
            default: .log
            }
        return true
    }

    /// The number of bytes in which ``takeLines(_:_:_:)`` searches at once. Without a limit, each call would search up
    /// to the next letter even if a NUL comes first, which would take quadratic time.
    private static let windowLength = 1024

    /// Takes the next byte of an undecided line. A byte that rules out all prefixes is not consumed, since it may end
    /// the line.
    private mutating func beginLine(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) {
        let byte = bytes[index]
        if held.isEmpty, byte != UInt8(ascii: "G"), byte != UInt8(ascii: "L"), byte != 0 {
            state = .log
            return
        }
        held.append(byte)
        // A NUL before a prefix is the terminator of a C string, sent after the previous line end. A NUL within the log
        // is kept, and so is a series of more NULs than ``rowLimit``.
        let line = held.count > Self.rowLimit ? held[...] : held.drop { $0 == 0 }
        if line.elementsEqual(Self.logPrefix) {
            output.add(.logBegins)
            begin(.logBegins)
        } else if line.elementsEqual(Self.livePrefix) {
            begin(.liveRow)
        } else if byte.isLineEnd, line.dropLast().elementsEqual(Self.echo) {
            begin(behind: byte)
        } else if !Self.prefixes.contains(where: { $0.starts(with: line) }) {
            output.text += held.dropLast()
            begin(.log)
            return
        }
        index += 1
    }

    /// Handles the byte after the log's prefix. A line end there means that the log is empty, or begins on the next
    /// line.
    private mutating func beginLog(_ bytes: [UInt8], _ index: inout Int) {
        guard bytes[index].isLineEnd, !keepsLineEndOfPrefix else {
            state = .log
            return
        }
        begin(behind: Self.take(bytes, &index))
    }

    /// Takes the log up to the end of its line.
    private mutating func takeLog(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) {
        let end = bytes.firstLineEnd(from: index)
        if let end { state = bytes[end] == .carriageReturn ? .logReturned : .lineBegins }
        let next = end.map { $0 + 1 } ?? bytes.count
        output.text += bytes[index..<next]
        index = next
    }

    /// Takes a live row up to its line end, or up to the longest row.
    private mutating func takeRow(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) {
        let end = bytes.firstLineEnd(from: index) ?? bytes.count
        let next = min(end, index + Self.rowLimit - held.count)
        held += bytes[index..<next]
        index = next
        // The row's end may come with the next bytes.
        if next == bytes.count { return }
        let row = held.withoutNULs
        if !row.isEmpty { output.add(.live(row)) }
        if next < end { begin(restOfRow) } else { begin(behind: Self.take(bytes, &index)) }
    }

    private static let prefixes = [echo, logPrefix, livePrefix]

    /// The state at the beginning of a line.
    private var start: State { characteristic == .live ? .liveRow : .lineBegins }

    /// The state in the rest of an overlong row.
    private var restOfRow: State { characteristic == .live ? .liveRow : .log }

    private mutating func begin(_ state: State) {
        self.state = state
        held.removeAll(keepingCapacity: true)
    }

    /// Begins a line after a line outside the log that ended with `lineEnd`.
    private mutating func begin(behind lineEnd: UInt8) { begin(lineEnd == .carriageReturn ? .returned : start) }
}

extension UInt8 {
    var isLineEnd: Bool { self == .lineFeed || self == .carriageReturn }
}

extension [UInt8] {
    /// Returns the index of the first `\n` or `\r` from `start` on; nil if there is none.
    fileprivate func firstLineEnd(from start: Int) -> Int? {
        withUnsafeBytes { ByteSearch.first(.lineFeed, or: .carriageReturn, in: $0, from: start) }
    }

    fileprivate var withoutLineEnd: ArraySlice<UInt8> { self[...].withoutLineEnd }
}

extension ArraySlice<UInt8> {
    /// The bytes without `\n` and `\r` at the end.
    fileprivate var withoutLineEnd: ArraySlice<UInt8> {
        prefix(through: lastIndex { !$0.isLineEnd } ?? startIndex - 1)
    }
}
