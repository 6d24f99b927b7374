/// Puts JSON objects together from what arrives, cut anywhere, and finds the next one behind what is none.
///
/// An object is whole when it is valid JSON to its closing brace. Where it goes wrong, all that came of it is searched
/// again for the beginning of another: a message behind one that was cut off is not lost with it.
///
///     var framer = RescueFramer()
///     for piece in framer.append(bytes) { … }
public struct RescueFramer: Sendable {
    /// A piece of what came.
    public enum Piece: Sendable, Hashable {
        /// An object, whole and valid JSON.
        case object([UInt8])
        /// Something that is none. One error tells of all that is skipped for it.
        case malformed(RescueError)
    }

    /// The longest object in bytes: a message has some hundred, and a fault must not fill the memory.
    public static let lengthLimit = 16 * 1024
    /// How deep an object may be nested.
    public static let depthLimit = 16

    /// What is not done with: an object from its beginning, or nothing.
    private var buffer: [UInt8] = []
    /// How much of it the grammar has seen; 0 outside of an object.
    private var taken = 0
    private var grammar = JSONGrammar(depthLimit: depthLimit)
    /// Up to where in the buffer a fault was told of: what goes wrong again in there is no news.
    private var told = 0
    /// Bytes that belong to no object, since the last one.
    private var noiseCount = 0
    private var noise: [UInt8] = []
    /// Whether what is skipped belongs to what a fault was told of.
    private var isBehindFault = false

    public init() {}

    /// How many bytes are kept of an object whose end has not come.
    public var pendingByteCount: Int { buffer.count }

    /// Takes in what arrived; the pieces that this makes out.
    public mutating func append(_ bytes: [UInt8]) -> [Piece] {
        buffer += bytes
        return scan()
    }

    /// What can be said of the rest, now that nothing follows.
    public mutating func finish() -> [Piece] {
        var pieces: [Piece] = []
        while !buffer.isEmpty {
            var start = 0
            fail(RescueError(.truncated, at: buffer.count), &start, &pieces)
            drop(start)
            pieces += scan()
        }
        endNoise(&pieces)
        self = RescueFramer()
        return pieces
    }

    private mutating func scan() -> [Piece] {
        var pieces: [Piece] = []
        var start = 0
        while start < buffer.count {
            if taken == 0 {
                guard skip(&start) else { break }
                endNoise(&pieces)
            }
            switch follow(from: start) {
            case .end:
                pieces.append(.object(Array(buffer[start..<start + taken])))
                start += taken
                taken = 0
                isBehindFault = false
            case .wrong(let code, let expected):
                fail(RescueError(code, at: taken - 1, expected: expected), &start, &pieces)
            case .more where taken >= Self.lengthLimit: fail(RescueError(.tooLong, at: taken), &start, &pieces)
            case .more:
                drop(start)
                return pieces
            }
        }
        drop(start)
        return pieces
    }

    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        buffer.removeFirst(count)
        told = max(0, told - count)
    }

    /// Skips to the next `{`; false where there is none.
    private mutating func skip(_ start: inout Int) -> Bool {
        while start < buffer.count {
            let byte = buffer[start]
            if byte == UInt8(ascii: "{") {
                grammar = JSONGrammar(depthLimit: Self.depthLimit)
                return true
            }
            start += 1
            if isBehindFault || (byte.isJSONBlank || byte == 0) && noiseCount == 0 { continue }
            noiseCount += 1
            if noise.count < RescueError.excerptLength { noise.append(byte) }
        }
        return false
    }

    private mutating func endNoise(_ pieces: inout [Piece]) {
        guard noiseCount > 0 else { return }
        var error = RescueError(.noise, at: noiseCount)
        error.excerpt = noise
        pieces.append(.malformed(error))
        noiseCount = 0
        noise = []
    }

    /// Follows the object at `start` to its end or to the end of what has come.
    private mutating func follow(from start: Int) -> JSONGrammar.Step {
        var grammar = grammar
        let begin = start + taken
        let (step, index) = buffer.withUnsafeBufferPointer { buffer -> (JSONGrammar.Step, Int) in
            let end = min(buffer.count, start + Self.lengthLimit)
            var index = begin
            while index < end {
                let step = grammar.take(buffer[index])
                index += 1
                guard case .more = step else { return (step, index) }
                guard grammar.isWithinString else { continue }
                while index < end, buffer[index].isPlainInString { index += 1 }
            }
            return (.more, index)
        }
        self.grammar = grammar
        taken = index - start
        return step
    }

    /// The object at `start` is none: looks for another in it.
    private mutating func fail(_ error: RescueError, _ start: inout Int, _ pieces: inout [Piece]) {
        if start >= told {
            var error = error
            error.excerpt = Array(buffer[start...].prefix(min(taken, RescueError.excerptLength)))
            pieces.append(.malformed(error))
            told = start + max(1, error.offset)
        }
        isBehindFault = true
        start += 1
        taken = 0
    }
}

extension UInt8 {
    /// Whether it leads nowhere else within a string.
    fileprivate var isPlainInString: Bool { self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\") }
}
