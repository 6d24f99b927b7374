internal import CDescriptorIO
internal import DescriptorIO
internal import Glibc

/// Waits for files in a folder: each change that inotify reports there causes another look.
public final class FolderWatch: Sendable {
    private let descriptor: CInt
    private let path: String

    /// Starts to watch an existing folder. No later change is missed.
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

    /// Waits until `find` returns a value.
    ///
    /// - Parameter what: A description of the awaited event, for the error message.
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
