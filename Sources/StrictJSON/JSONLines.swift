internal import Glibc

/// Splits input into lines, each with a JSON value. Lines are returned one at a time, because the input may change to
/// another format after any of them: ``takeAll()`` returns the rest.
package struct JSONLines {
    private var bytes: [UInt8] = []
    /// The index at which the next line begins.
    private var start = 0
    /// The index up to which no line end was found; if ``hasLine()`` was true, the index of the line end.
    private var searched = 0

    package init() {}

    /// The number of unread bytes.
    package var count: Int { bytes.count - start }

    /// Adds input.
    package mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes += more
    }

    /// Whether a complete line is unread.
    package mutating func hasLine() -> Bool {
        searched = bytes.withUnsafeBytes { bytes in
            guard searched < bytes.count, let start = bytes.baseAddress else { return bytes.count }
            return memchr(start + searched, 0x0A, bytes.count - searched).map { start.distance(to: $0) } ?? bytes.count
        }
        return searched < bytes.count
    }

    /// Removes and returns the next line, without its `\n`; nil if the line is incomplete.
    package mutating func next() -> [UInt8]? {
        guard hasLine() else { return nil }
        defer { (start, searched) = (searched + 1, searched + 1) }
        return Array(bytes[start..<searched])
    }

    /// Removes and returns all unread bytes.
    package mutating func takeAll() -> [UInt8] {
        defer { self = JSONLines() }
        return Array(bytes[start...])
    }
}
