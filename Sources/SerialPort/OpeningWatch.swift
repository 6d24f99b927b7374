internal import CSerial
package import DescriptorIO
internal import Glibc
internal import Synchronization

/// Tells when files are opened, by one inotify instance for all of them.
///
/// A user has 128 instances (`fs.inotify.max_user_instances`), in all programs together, so a program should have one.
package final class OpeningWatch: Sendable {
    /// That of who has none of its own.
    package static let shared = OpeningWatch()

    private struct Watcher {
        let watch: CInt
        let onOpening: @Sendable () -> Void
    }

    private struct State {
        /// The instance, while anything is watched.
        var instance: (descriptor: CInt, channel: DescriptorChannel)?
        var watchers: [UInt64: Watcher] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())
    private let loop: EventLoop
    private let makeInstance: @Sendable () -> CInt

    /// - Parameters:
    ///   - loop: Where it is told of openings.
    ///   - makeInstance: `inotify_init1`: returns a descriptor, or -1 and sets `errno`.
    package init(
        on loop: EventLoop = .shared,
        makeInstance: @escaping @Sendable () -> CInt = { inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC)) }
    ) {
        self.loop = loop
        self.makeInstance = makeInstance
    }

    /// Begins to watch a file. `onOpening` is called on the thread of the loop after each opening; several may be told as one.
    ///
    /// - Throws: `system` where the system has no more instances or watches.
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
        let activity = "watching who opens"
        let descriptor = state.instance?.descriptor ?? makeInstance()
        guard descriptor >= 0 else {
            throw SerialError(
                .system, errno: errno, activity: activity, path: path,
                hint: "allow more inotify instances: sudo sysctl fs.inotify.max_user_instances=1024")
        }
        let watch = inotify_add_watch(descriptor, path, UInt32(IN_OPEN))
        guard watch >= 0 else {
            let error = errno
            // An instance that nobody reads would leave every later watcher without news.
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

    /// Ends the watch of that name. With the last one ends the instance.
    func end(_ id: UInt64) async {
        let channel = state.withLock { state -> DescriptorChannel? in
            guard let watcher = state.watchers.removeValue(forKey: id), let instance = state.instance else {
                return nil
            }
            if state.watchers.isEmpty {
                state.instance = nil
                return instance.channel
            }
            // Two who watch one file have one watch. What is gone took its watch with it.
            if !state.watchers.values.contains(where: { $0.watch == watcher.watch }) {
                inotify_rm_watch(instance.descriptor, watcher.watch)
            }
            return nil
        }
        await channel?.close()
    }

    /// Takes in what the instance says: whole events, each a header of 16 bytes and a name.
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
        // Where events were lost, -1 stands for all of them.
        let concerned = state.withLock { state in
            state.watchers.values.filter { watches.contains($0.watch) || watches.contains(-1) }
        }
        for watcher in concerned { watcher.onOpening() }
    }
}
