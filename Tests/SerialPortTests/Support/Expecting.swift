import Glibc
import Testing

@testable import SerialPort

/// Returns the error that a call throws; records a failure if it throws none.
func failure(_ location: SourceLocation = #_sourceLocation, of call: () throws -> Void) throws -> SerialError {
    try #require(throws: SerialError.self, sourceLocation: location) { try call() }
}

/// Either end of a pseudo-terminal.
protocol Transferring {
    var descriptor: CInt { get }
    func read(into buffer: inout MutableRawSpan) throws(SerialError) -> TransferResult
    func write(_ bytes: RawSpan) throws(SerialError) -> TransferResult
}

extension SerialPort: Transferring {}
extension PseudoTerminal: Transferring {}

/// No input came for a minute.
struct NothingCame: Error {}

extension Transferring {
    /// Reads once without waiting. Returns nil if there is no input.
    func readOnce(upTo count: Int = 4096) throws(SerialError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        var span = buffer.mutableSpan
        var bytes = span.mutableBytes
        switch try read(into: &bytes) {
        case .bytes(let count): return Array(buffer.prefix(count))
        case .wouldBlock: return nil
        }
    }

    /// Waits for `count` bytes, at most a minute for each part.
    func receive(_ count: Int) throws -> [UInt8] {
        var received: [UInt8] = []
        while received.count < count {
            if let part = try readOnce(upTo: count - received.count) {
                received += part
                continue
            }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 60_000) > 0 else { throw NothingCame() }
        }
        return received
    }

    func send(_ bytes: [UInt8]) throws(SerialError) -> TransferResult {
        try write(bytes.span.bytes)
    }
}

/// The number of this process's descriptors that lead to a path.
func descriptors(to path: String) -> Int {
    (0..<4096).count { number in
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            let count = readlink("/proc/self/fd/\(number)", buffer.baseAddress!, 255)
            guard count > 0 else { return false }
            buffer[count] = 0
            return String(cString: buffer.baseAddress!) == path
        }
    }
}
