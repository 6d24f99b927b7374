internal import CDescriptorIO
internal import Glibc

/// Told, on the loop's thread, what was reported of a descriptor, in the bits of poll(2).
package protocol PollHandler: AnyObject, Sendable {
    func ready(_ events: CShort)
}

/// Names one watched descriptor until it is removed.
package struct PollToken: Hashable, Sendable {
    fileprivate let id: UInt64
}

/// The set of descriptors that a loop waits on, by epoll: a wait costs what happens, however many descriptors there are.
///
/// The kernel is told of each change at once. A descriptor must be removed before it is closed: a child that is just
/// being started holds a copy, with which the kernel would go on reporting a number that is nobody's any more.
struct Poller {
    private struct Entry {
        /// What the kernel watches: the descriptor, or a copy where the descriptor is watched already.
        let descriptor: CInt
        let isCopy: Bool
        /// Files, which epoll refuses: they can always be read and written.
        let isFile: Bool
        var events: CShort
        let handler: any PollHandler
    }

    private let set: CInt
    private let wakeDescriptor: CInt
    private var entries: [UInt64: Entry] = [:]
    /// Those of ``entries`` that are files.
    private var files: [UInt64] = []
    private var lastID = Self.wakeID
    private var happened = [epoll_event](repeating: epoll_event(), count: 128)

    private static let wakeID: UInt64 = 0

    init(wakeDescriptor: CInt) {
        self.wakeDescriptor = wakeDescriptor
        set = epoll_create1(CInt(EPOLL_CLOEXEC))
        // As with the loop's eventfd: it fails only where the process has no descriptor or no memory left.
        precondition(set >= 0, "no descriptor left for the event loop")
        let result = control(EPOLL_CTL_ADD, wakeDescriptor, events: CShort(POLLIN), id: Self.wakeID)
        precondition(result == 0, "no memory left for the event loop")
    }

    func close() { Glibc.close(set) }

    mutating func add(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        lastID += 1
        var watched = descriptor
        var result = control(EPOLL_CTL_ADD, watched, events: events, id: lastID)
        if result == EEXIST {
            watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            result = control(EPOLL_CTL_ADD, watched, events: events, id: lastID)
        }
        precondition(result == 0 || result == EPERM, "descriptor \(descriptor) can't be watched: error \(result)")
        let isFile = result == EPERM
        if isFile { files.append(lastID) }
        entries[lastID] = Entry(
            descriptor: watched, isCopy: watched != descriptor, isFile: isFile, events: events, handler: handler)
        return PollToken(id: lastID)
    }

    mutating func setInterest(_ token: PollToken, events: CShort) {
        guard let entry = entries[token.id], entry.events != events else { return }
        entries[token.id]?.events = events
        if !entry.isFile { control(EPOLL_CTL_MOD, entry.descriptor, events: events, id: token.id) }
    }

    mutating func remove(_ token: PollToken) {
        guard let entry = entries.removeValue(forKey: token.id) else { return }
        if entry.isFile {
            files.removeAll { $0 == token.id }
        } else {
            let result = control(EPOLL_CTL_DEL, entry.descriptor, events: 0, id: token.id)
            assert(result == 0, "descriptor \(entry.descriptor) was closed while it was watched")
        }
        if entry.isCopy { Glibc.close(entry.descriptor) }
    }

    /// Returns 0, or an error's number.
    @discardableResult
    private func control(_ operation: CInt, _ descriptor: CInt, events: CShort, id: UInt64) -> CInt {
        // Where only a hang-up is of interest: a terminal's wakes those alone that wait for input or room, so input is
        // waited for too, and told once, as nobody takes it.
        let bits = events == 0 ? EPOLLIN.rawValue | EPOLLET.rawValue : UInt32(UInt16(bitPattern: events))
        var event = epoll_event(events: bits, data: epoll_data_t(u64: id))
        return epoll_ctl(set, operation, descriptor, &event) == 0 ? 0 : errno
    }

    /// What a wait reported of one descriptor.
    struct Report {
        let handler: any PollHandler
        let events: CShort
    }

    /// Waits until something happens or `timeout` nanoseconds have gone by, and appends what happened to `reports`.
    ///
    /// The loop calls the handlers behind that: they may add and remove descriptors, their own among them.
    mutating func wait(timeout: Int64?, into reports: inout [Report]) {
        let readyFiles = files.compactMap { entries[$0] }.filter { $0.events != 0 }
        let limit = readyFiles.isEmpty ? timeout ?? -1 : 0
        // A time-out, or EINTR: the loop comes round again.
        let count = cdescriptorio_epoll_wait(set, &happened, CInt(happened.count), limit)
        for index in 0..<Int(max(count, 0)) {
            let (bits, id) = (happened[index].events, happened[index].data.u64)
            if id == Self.wakeID {
                var number: eventfd_t = 0
                eventfd_read(wakeDescriptor, &number)
            } else if let entry = entries[id] {
                let events = CShort(truncatingIfNeeded: bits) & (entry.events | Self.always)
                if events != 0 { reports.append(Report(handler: entry.handler, events: events)) }
            }
        }
        for file in readyFiles { reports.append(Report(handler: file.handler, events: file.events)) }
    }

    /// What is reported of a descriptor without being asked for.
    private static let always = CShort(POLLHUP | POLLERR)
}
