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
    private let keepsLineEndOfPrefix: Bool
    private var state: State
    /// The first bytes of a line, or of a live row, that are not decided upon.
    private var held: [UInt8] = []

    /// A decoder of what `characteristic` brings; a serial line is as ``StormCharacteristic/backup``.
    public init(of characteristic: StormCharacteristic = .backup, keepsPacketBounds: Bool) {
        self.init(of: characteristic, keepsPacketBounds: keepsPacketBounds, keepsLineEndOfPrefix: false)
    }

    /// - Parameter keepsLineEndOfPrefix: Whether a line end right behind the log's prefix is text of the log, as it is to
    ///   whoever passes the log on byte for byte.
    package init(
        of characteristic: StormCharacteristic = .backup, keepsPacketBounds: Bool, keepsLineEndOfPrefix: Bool
    ) {
        self.characteristic = characteristic
        self.keepsPacketBounds = keepsPacketBounds
        self.keepsLineEndOfPrefix = keepsLineEndOfPrefix
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

    /// The pieces that were made out of one arrival, the adjacent bytes of the log as one.
    private struct Output {
        private var pieces: [StormPiece] = []
        /// Bytes of the log behind the last piece.
        var text: [UInt8] = []

        mutating func add(_ piece: StormPiece) {
            if !text.isEmpty { pieces.append(.log(text)) }
            text.removeAll(keepingCapacity: true)
            pieces.append(piece)
        }

        /// All of them; nothing is added any more.
        func finish() -> [StormPiece] { text.isEmpty ? pieces : pieces + [.log(text)] }
    }

    private mutating func stream(_ bytes: [UInt8]) -> [StormPiece] {
        var output = Output()
        output.text.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
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

    /// Takes the next byte of a line of which nothing is decided, unless it shows that the line has no prefix: then it is
    /// left to be looked at again, since it may end the line.
    private mutating func beginLine(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) {
        let byte = bytes[index]
        // Most lines of a log.
        if held.isEmpty, byte != UInt8(ascii: "G"), byte != UInt8(ascii: "L"), byte != 0 {
            state = .log
            return
        }
        held.append(byte)
        // The end of a C string, sent behind the line end before, hides no prefix. In the log it stays.
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

    /// Right behind the log's prefix: nothing but a line end means that the log is empty, or begins on the next line.
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

    /// Takes a live row up to the end of its line, or as much as a row may hold.
    private mutating func takeRow(_ bytes: [UInt8], _ index: inout Int, _ output: inout Output) {
        let end = bytes.firstLineEnd(from: index) ?? bytes.count
        let next = min(end, index + Self.rowLimit - held.count)
        held += bytes[index..<next]
        index = next
        // Its end may come with the next bytes.
        if next == bytes.count { return }
        let row = held.withoutNULs
        if !row.isEmpty { output.add(.live(row)) }
        if next < end { begin(restOfRow) } else { begin(behind: Self.take(bytes, &index)) }
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
