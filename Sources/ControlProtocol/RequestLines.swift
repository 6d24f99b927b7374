/// Cuts what a program sends into lines, one at a time: what follows a line may be none of the interface any more.
package struct RequestLines {
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// How far its end was looked for in vain.
    private var searched = 0

    package init() {}

    /// How many bytes wait.
    package var count: Int { bytes.count - start }

    package mutating func append(_ more: [UInt8]) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes += more
    }

    /// Takes out the next line, without its `\n`; nil where it has not ended.
    package mutating func next() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0x0A) else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (end + 1, end + 1) }
        return Array(bytes[start..<end])
    }

    /// Takes out all that waits.
    package mutating func takeAll() -> [UInt8] {
        defer { self = RequestLines() }
        return Array(bytes[start...])
    }
}
