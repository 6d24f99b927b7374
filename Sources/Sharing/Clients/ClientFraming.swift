internal import LineProtocol

/// How what a client sends is cut into what goes to the device in one turn.
public enum ClientFraming: Sendable, Hashable {
    /// By lines. A client is hung up on for a line longer than any device takes.
    case lines
    /// By JSON objects, with or without line ends between them. What is no object is dropped and reported.
    case objects
    /// Not at all: what a client sends goes to the device as it comes.
    case bytes
}

/// Cuts what a client sends into what goes to the device in one turn.
struct ClientFramer: Sendable {
    enum Frame: Sendable {
        case whole([UInt8])
        /// The beginning of what is dropped, and why.
        case malformed([UInt8], reason: String)
        /// It is longer than any device takes.
        case tooLong
    }

    private enum Framer {
        case lines(LineFramer)
        case objects(RescueFramer)
        case bytes
    }

    private var framer: Framer

    /// - Parameter lineLimit: The longest line in bytes.
    init(_ framing: ClientFraming, lineLimit: Int) {
        framer =
            switch framing {
            case .lines: .lines(LineFramer(limit: lineLimit))
            case .objects: .objects(RescueFramer())
            case .bytes: .bytes
            }
    }

    /// Whether the beginning of a line waits for its end.
    var hasBegun: Bool {
        switch framer {
        case .lines(let lines): !lines.pending.isEmpty
        case .objects, .bytes: false
        }
    }

    /// Takes in what a client sent; the frames that this completes. Empty lines are left out.
    mutating func append(_ bytes: [UInt8]) -> [Frame] {
        switch framer {
        case .bytes: return [.whole(bytes)]
        case .lines(var lines):
            var frames: [Frame] = []
            lines.append(bytes.span) { line, ending in
                if ending == .cut {
                    frames.append(.tooLong)
                } else if !line.isEmpty {
                    frames.append(.whole(line.withUnsafeBufferPointer { Array($0) }))
                }
            }
            framer = .lines(lines)
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
