internal import Glibc
internal import Synchronization

/// The limit for the number of open descriptors of the process.
package enum DescriptorLimit {
    /// The limit before ``raise()`` changed it; nil if ``raise()`` did not change it.
    private static let original = Mutex<rlim_t?>(nil)

    /// Raises the limit to the hard limit (`ulimit -H -n`). The initial limit, mostly 1024, is for programs that use
    /// select(2), which can't handle more descriptors; event loops use epoll and poll(2).
    package static func raise() {
        original.withLock { original in
            guard let limit = current, limit.rlim_cur < limit.rlim_max else { return }
            if set(limit.rlim_max) { original = original ?? limit.rlim_cur }
        }
    }

    /// Runs `body` with the initial limit, so that a program started there, which may use select(2), inherits that
    /// limit.
    static func withOriginal<Value>(_ body: () -> Value) -> Value {
        original.withLock { original in
            guard let original, let raised = current?.rlim_cur, set(original) else { return body() }
            defer { _ = set(raised) }
            return body()
        }
    }

    private static var current: rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
    }

    private static func set(_ number: rlim_t) -> Bool {
        guard var limit = current else { return false }
        limit.rlim_cur = number
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }
}
