internal import CDescriptorIO
internal import Glibc

/// A watch, by inotify, for new entries of a folder, such as a device in `/dev`, and for changes of the attributes of
/// any entry. Removals are not reported.
package final class DirectoryWatch: Sendable {
    private let descriptor: CInt

    /// Starts watching; no later change is missed. Returns nil if the folder does not exist, or inotify fails.
    package init?(path: String) {
        descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        // IN_ATTRIB: udev sets the group of a new device a moment after creating it.
        let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
        guard inotify_add_watch(descriptor, path, events) >= 0 else { return nil }
    }

    /// Closes the descriptor. This runs even if the initializer fails.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits for a change since the last call or the start of the watch, or until `deadline`. Does not say which of
    /// them came: the caller looks at the folder.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    package func wait(until deadline: ContinuousClock.Instant, on loop: EventLoop) async throws(DescriptorError) {
        guard try await loop.waitUntilReady(descriptor, events: CShort(POLLIN), deadline: deadline) != 0 else { return }
        // Read all events and ignore their contents, so that the descriptor is ready again only after another change.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
