internal import CDescriptorIO
internal import DescriptorIO
internal import Glibc

/// Waits for what is written to a folder: each change there, which inotify tells, is a reason to look again.
public final class FolderWatch: Sendable {
    private let descriptor: CInt
    private let path: String

    /// Begins to watch a folder that is there; what happens from now on is not missed.
    public init(_ path: String) throws {
        self.path = path
        descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_DELETE | IN_ONLYDIR)
        guard descriptor >= 0, inotify_add_watch(descriptor, path, events) >= 0 else {
            throw ChildProcess.NotStarted(errno: errno)
        }
    }

    /// It is called for a watch that could not begin, too.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits until `find` finds something.
    ///
    /// - Parameter what: What is waited for, for the message when it does not come.
    /// - Throws: ``NotInTime`` after `deadline`.
    public func wait<Value: Sendable>(
        for what: String, within deadline: Duration = patience, _ find: () async throws -> Value?
    ) async throws -> Value {
        let end = ContinuousClock.now + deadline
        while true {
            if let value = try await find() { return value }
            let events = try await EventLoop.shared.waitUntilReady(descriptor, events: CShort(POLLIN), deadline: end)
            guard events != 0 else { throw NotInTime(what: what, state: "no change in \(path)") }
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
        }
    }
}
