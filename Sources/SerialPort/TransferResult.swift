import Glibc

/// What came of a read or a write that does not wait.
public enum TransferResult: Sendable, Hashable {
    /// So many bytes were moved: at least one, unless none were asked for.
    case bytes(Int)
    /// None can be moved now; poll(2) tells when.
    case wouldBlock
}

extension TransferResult {
    /// What a read(2) or write(2) without waiting came to, or the errno it failed with.
    ///
    /// - Parameter call: Returns the number of bytes, or −1 and sets errno. It is repeated when a signal interrupts it.
    static func of(_ call: () -> Int) -> Result<TransferResult, SystemFailure> {
        while true {
            let count = call()
            if count >= 0 { return .success(.bytes(count)) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .success(.wouldBlock)
            case let error: return .failure(SystemFailure(errno: error))
            }
        }
    }
}

/// An errno, before it is known what was being done.
struct SystemFailure: Error {
    var errno: Int32
}
