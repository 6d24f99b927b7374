internal import LineProtocol

/// The way in which a client's bytes are split into units, each of which is sent to the device in one turn.
public enum ClientFraming: Sendable, Hashable {
    /// Lines of limited length.
    case lines
    /// JSON objects, with or without line ends between them. Malformed input is dropped and reported.
    case objects
    /// No framing: bytes are sent to the device as they arrive. The first line on a socket is kept until it is complete
    /// if it begins as that of a web browser or of an SSH client does.
    case bytes
}

/// Splits a client's bytes into units, each of which is sent to the device in one turn.
struct ClientFramer: Sendable {
    enum Frame: Sendable {
        case whole([UInt8])
        /// The beginning of malformed input, and the reason. All of the malformed input is dropped.
        case malformed([UInt8], reason: String)
        /// A line that exceeds the limit. The whole line is dropped.
        case tooLong
    }

    private enum Framer {
        case lines(LineFramer)
        case objects(RescueFramer)
        case bytes
    }

    private var framer: Framer
    /// Whether the rest of a line that exceeds the limit is being dropped.
    private var isInLongLine = false

    /// - Parameter lineLimit: The maximum length of a line in bytes.
    init(_ framing: ClientFraming, lineLimit: Int) {
        framer =
            switch framing {
            case .lines: .lines(LineFramer(limit: lineLimit))
            case .objects: .objects(RescueFramer())
            case .bytes: .bytes
            }
    }

    /// Whether a line has begun and not ended: it is buffered, or exceeds the limit and is being dropped. Always false
    /// for objects and bytes.
    var hasBegun: Bool {
        switch framer {
        case .lines(let lines): isInLongLine || !lines.pending.isEmpty
        case .objects, .bytes: false
        }
    }

    /// Adds a client's bytes and returns the frames that they complete, without empty lines.
    mutating func append(_ bytes: [UInt8]) -> [Frame] {
        switch framer {
        case .bytes: return [.whole(bytes)]
        case .lines(var lines):
            var (frames, isRest): ([Frame], Bool) = ([], isInLongLine)
            lines.append(bytes.span) { line, ending in
                if ending == .cut {
                    if !isRest { frames.append(.tooLong) }
                    isRest = true
                } else {
                    // The rest of a long line must not reach the device as a line of its own.
                    if !isRest, !line.isEmpty { frames.append(.whole(line.withUnsafeBufferPointer { Array($0) })) }
                    isRest = false
                }
            }
            (framer, isInLongLine) = (.lines(lines), isRest)
            return frames
        case .objects(var objects):
            defer { framer = .objects(objects) }
            return objects.append(bytes).map { piece in
                switch piece {
                case .object(let object): .whole(object)
                case .malformed(let error): .malformed(error.excerpt, reason: "\(error)")
                }
            }
        }
    }
}
