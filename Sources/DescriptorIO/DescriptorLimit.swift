internal import Glibc

/// How many descriptors the process may have.
package enum DescriptorLimit {
    /// Allows as many as the process may have at all (`ulimit -H -n`). The limit that a process starts with, mostly 1024, is
    /// there for programs that use select(2), see getrlimit(2).
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
