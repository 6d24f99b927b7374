import Glibc

/// The result of a non-blocking read or write.
public enum TransferResult: Sendable, Hashable {
    /// The number of bytes transferred: at least 1, unless none were requested.
    case bytes(Int)
    /// No bytes can be transferred now; poll(2) reports when they can.
    case wouldBlock
}

extension TransferResult {
    /// Runs a non-blocking read(2) or write(2).
    ///
    /// - Parameter call: Returns the number of bytes, or −1 and sets errno. The call is repeated after EINTR.
    /// - Returns: The result, or the errno of the failure.
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

/// An errno without the context of the failed operation.
struct SystemFailure: Error {
    var errno: Int32
}
