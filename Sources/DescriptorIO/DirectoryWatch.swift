internal import CDescriptorIO
internal import Glibc

/// Tells when something changes in a folder, as a device that appears in `/dev`, by inotify.
package final class DirectoryWatch: Sendable {
    private let descriptor: CInt

    /// Begins to watch; what happens from now on is not missed. nil where there is no such folder, or no inotify.
    package init?(path: String) {
        descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        // IN_ATTRIB: udev gives a new device its group a moment after it has made it.
        let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
        guard inotify_add_watch(descriptor, path, events) >= 0 else { return nil }
    }

    /// It is called for a watch that could not begin, too.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits for the next change, or for `deadline`.
    ///
    /// - Throws: `cancelled` when the task is.
    package func wait(until deadline: ContinuousClock.Instant, on loop: EventLoop) async throws(DescriptorError) {
        guard try await loop.waitUntilReady(descriptor, events: CShort(POLLIN), deadline: deadline) != 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
