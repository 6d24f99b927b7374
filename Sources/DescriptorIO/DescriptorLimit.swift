internal import Glibc
internal import Synchronization

/// How many descriptors the process may have.
package enum DescriptorLimit {
    /// What the process started with; nil while that is in force.
    private static let original = Mutex<rlim_t?>(nil)

    /// Allows as many as the process may have at all (`ulimit -H -n`). The limit that a process starts with, mostly 1024, is
    /// there for programs that use select(2), see getrlimit(2).
    package static func raise() {
        original.withLock { original in
            guard let limit = current, limit.rlim_cur < limit.rlim_max else { return }
            if set(limit.rlim_max) { original = original ?? limit.rlim_cur }
        }
    }

    /// Does `body` with the limit that this process started with, which another program that it starts inherits: that one may
    /// use select(2).
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
