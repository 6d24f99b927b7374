internal import CSerial
package import DescriptorIO
internal import Glibc
internal import Synchronization

/// Reports when watched files are opened, with one inotify instance for all files.
///
/// All programs of a user share a number of instances (`fs.inotify.max_user_instances`, 128 by default), so a program
/// should have only one.
package final class OpeningWatch: Sendable {
    /// The default watch, which the whole program shares.
    package static let shared = OpeningWatch()

    private struct Watcher {
        let watch: CInt
        let onOpening: @Sendable () -> Void
    }

    private struct State {
        /// The inotify instance; nil while no file is watched.
        var instance: (descriptor: CInt, channel: DescriptorChannel)?
        var watchers: [UInt64: Watcher] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())
    private let loop: EventLoop
    private let makeInstance: @Sendable () -> CInt

    /// Creates a watch without files.
    ///
    /// - Parameters:
    ///   - loop: The loop that delivers the events.
    ///   - makeInstance: `inotify_init1`: returns a descriptor, or -1 and sets `errno`.
    package init(
        on loop: EventLoop = .shared,
        makeInstance: @escaping @Sendable () -> CInt = { inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC)) }
    ) {
        self.loop = loop
        self.makeInstance = makeInstance
    }

    /// Starts watching a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - onOpening: Called on the loop's thread after the file was opened; one call may stand for several openings,
    ///     and sometimes for none.
    /// - Returns: An ID for ``end(_:)``.
    /// - Throws: `system`, for example if the user has no more inotify instances or watches.
    func begin(_ path: String, onOpening: @escaping @Sendable () -> Void) async throws(SerialError) -> UInt64 {
        let (id, newChannel) = try state.withLock { state throws(SerialError) in
            let isNew = state.instance == nil
            let id = try add(path, onOpening, to: &state)
            return (id, isNew ? state.instance?.channel : nil)
        }
        await newChannel?.forward { [weak self] arrival in
            if case .success(let bytes?) = arrival { self?.take(bytes) }
        }
        return id
    }

    private func add(
        _ path: String, _ onOpening: @escaping @Sendable () -> Void, to state: inout State
    ) throws(SerialError) -> UInt64 {
        let activity = "watching for programs that open"
        let descriptor = state.instance?.descriptor ?? makeInstance()
        guard descriptor >= 0 else {
            throw SerialError(
                .system, errno: errno, activity: activity, path: path,
                hint: "allow more inotify instances: sudo sysctl fs.inotify.max_user_instances=1024")
        }
        let watch = inotify_add_watch(descriptor, path, UInt32(IN_OPEN))
        guard watch >= 0 else {
            let error = errno
            // Keeping an instance without a reader would leave every later watcher without events.
            if state.instance == nil { close(descriptor) }
            let hint = "allow more inotify watches: sudo sysctl fs.inotify.max_user_watches=65536"
            throw SerialError(
                .system, errno: error, activity: activity, path: path, hint: error == ENOSPC ? hint : nil)
        }
        if state.instance == nil {
            state.instance = (descriptor, DescriptorChannel(taking: descriptor, kind: .stream, on: loop))
        }
        state.lastID += 1
        state.watchers[state.lastID] = Watcher(watch: watch, onOpening: onOpening)
        return state.lastID
    }

    /// Ends a watch. Ending the last watch closes the inotify instance.
    func end(_ id: UInt64) async {
        let channel = state.withLock { state -> DescriptorChannel? in
            guard let watcher = state.watchers.removeValue(forKey: id), let instance = state.instance else {
                return nil
            }
            if state.watchers.isEmpty {
                state.instance = nil
                return instance.channel
            }
            // Watchers of the same file share one watch. For a deleted file, this call fails without effect: the kernel
            // has already removed the watch.
            if !state.watchers.values.contains(where: { $0.watch == watcher.watch }) {
                inotify_rm_watch(instance.descriptor, watcher.watch)
            }
            return nil
        }
        await channel?.close()
    }

    /// Decodes events from the inotify instance. A read returns whole events: a header of 16 bytes, and often a name.
    private func take(_ bytes: [UInt8]) {
        var watches: Set<CInt> = []
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset + MemoryLayout<inotify_event>.size <= bytes.count {
                let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                watches.insert(event.wd)
                offset += MemoryLayout<inotify_event>.size + Int(event.len)
            }
        }
        // After a queue overflow the event has watch -1; every watcher may have missed an opening.
        let concerned = state.withLock { state in
            state.watchers.values.filter { watches.contains($0.watch) || watches.contains(-1) }
        }
        for watcher in concerned { watcher.onOpening() }
    }
}
