internal import CDescriptorIO
internal import DescriptorIO
internal import Glibc

/// Waits for files in a folder. It does not poll: inotify reports files that are created in the folder,
/// moved into it, changed or deleted.
public final class FolderWatch: Sendable {
    private let descriptor: CInt
    private let path: String

    /// Starts to watch an existing folder. A change between this call and ``wait(for:within:_:)`` is not missed.
    public init(_ path: String) throws {
        self.path = path
        descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_DELETE | IN_ONLYDIR)
        guard descriptor >= 0, inotify_add_watch(descriptor, path, events) >= 0 else {
            throw ChildProcess.NotStarted(errno: errno)
        }
    }

    /// Also called for a watch that could not start.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Calls `find` now and after each change in the folder, until it returns a value.
    ///
    /// - Parameter what: A description of the awaited event, for the error message.
    /// - Throws: ``NotInTime`` after `deadline`, or the error of `find`.
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
