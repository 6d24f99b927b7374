internal import StrictJSON

/// Assembles JSON objects from bytes that are cut anywhere, and finds the next object after invalid data.
///
/// An object is complete if it is valid JSON up to its closing brace. After a fault, the bytes of the invalid object
/// are searched again for the start of another object. So a message that follows a cut-off message is not lost.
///
///     var framer = RescueFramer()
///     for piece in framer.append(bytes) { … }
public struct RescueFramer: Sendable {
    /// A piece of the received data.
    public enum Piece: Sendable, Hashable {
        /// A complete object of valid JSON.
        case object([UInt8])
        /// Data that is not an object. One error covers all bytes that are skipped because of its fault.
        case malformed(RescueError)
    }

    /// The longest object in bytes. A message has a few hundred bytes; the limit keeps invalid data from exhausting the
    /// memory.
    public static let lengthLimit = 16 * 1024
    /// The deepest nesting of an object. The protocol's own fields are flat: the limit is for unknown fields.
    public static let depthLimit = 16

    /// The unprocessed bytes: the start of an object, or nothing.
    private var buffer: [UInt8] = []
    /// The number of buffered bytes that the grammar has taken; 0 outside of an object.
    private var taken = 0
    private var grammar = JSONGrammar(depthLimit: depthLimit)
    /// The offset in the buffer up to which a fault was reported. Faults before this offset are not reported again.
    private var told = 0
    /// The number of bytes outside any object since the last object. White space and NULs count only after another
    /// such byte.
    private var noiseCount = 0
    /// The first bytes that ``noiseCount`` counts, for the excerpt.
    private var noise: [UInt8] = []
    /// Whether bytes that are skipped now belong to a fault that was reported, and do not count as noise.
    private var isBehindFault = false

    /// Creates a framer for the beginning of a stream.
    public init() {}

    /// The number of buffered bytes of an object that has not ended.
    public var pendingByteCount: Int { buffer.count }

    /// Takes received bytes, and returns the pieces that they complete.
    public mutating func append(_ bytes: [UInt8]) -> [Piece] {
        buffer += bytes
        return scan()
    }

    /// Returns the last pieces at the end of input.
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

    /// Parses the buffered bytes, and returns the pieces that they complete. The start of an object that goes on stays
    /// in the buffer.
    private mutating func scan() -> [Piece] {
        var pieces: [Piece] = []
        var start = 0
        while start < buffer.count {
            if taken == 0 {
                guard skip(&start) else { break }
                endNoise(&pieces)
            }
            switch follow(from: start) {
            case .endBefore: preconditionFailure("an object ends with its brace")
            case .end:
                pieces.append(.object(Array(buffer[start..<start + taken])))
                start += taken
                taken = 0
                isBehindFault = false
            case .wrong(let code, let expected):
                fail(RescueError(JSONError(code, at: taken - 1, expected: expected)), &start, &pieces)
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

    /// Skips to the next `{`; returns false if there is none.
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

    /// Parses the object at `start` to its end, to a fault, or to the end of the buffered bytes.
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

    /// Reports a fault in the object at `start`, unless an earlier report covers it, and begins to search the object
    /// for another one.
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
