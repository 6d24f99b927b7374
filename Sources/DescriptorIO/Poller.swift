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
///
/// What epoll does not take, as where the kernel has no memory left, is waited for by poll(2): a program that is to switch
/// something off must not end for that.
struct Poller {
    /// How a descriptor is waited for.
    private enum Way {
        case epoll
        /// By poll(2), since epoll has failed.
        case poll
        /// Not at all: files, which epoll refuses, can always be read and written.
        case file
    }

    private struct Entry {
        /// What the kernel watches: the descriptor, or a copy where the descriptor is watched already.
        let descriptor: CInt
        let isCopy: Bool
        var way: Way
        var events: CShort
        let handler: any PollHandler
    }

    /// -1 if there is no descriptor left for it.
    private let set: CInt
    /// -1 if there is none: then a wait ends soon by itself.
    private let wakeDescriptor: CInt
    private let isWakePolled: Bool
    private var entries: [UInt64: Entry] = [:]
    /// Those of ``entries`` that are not waited for by epoll.
    private var others: [UInt64] = []
    private var lastID = Self.wakeID
    private var happened = [epoll_event](repeating: epoll_event(), count: 128)

    private static let wakeID: UInt64 = 0
    /// The longest wait, in nanoseconds, where nothing can end it from another thread.
    private static let longestDeafWait: Int64 = 10_000_000
    /// The longest wait where a hang-up is looked for by poll(2): a terminal's wakes only those that wait for input or room.
    private static let longestHangUpWait: Int64 = 100_000_000

    /// - Parameter usesEpoll: Whether epoll is tried.
    init(wakeDescriptor: CInt, usesEpoll: Bool = true) {
        self.wakeDescriptor = wakeDescriptor
        set = usesEpoll ? epoll_create1(CInt(EPOLL_CLOEXEC)) : -1
        isWakePolled = Self.control(set, EPOLL_CTL_ADD, wakeDescriptor, events: CShort(POLLIN), id: Self.wakeID) != 0
    }

    func close() { if set >= 0 { Glibc.close(set) } }

    mutating func add(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        lastID += 1
        var watched = descriptor
        var result = Self.control(set, EPOLL_CTL_ADD, watched, events: events, id: lastID)
        if result == EEXIST {
            watched = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            result = watched < 0 ? errno : Self.control(set, EPOLL_CTL_ADD, watched, events: events, id: lastID)
            if result != 0 {
                Glibc.close(watched)
                watched = descriptor
            }
        }
        let way: Way = result == 0 ? .epoll : result == EPERM ? .file : .poll
        if way != .epoll { others.append(lastID) }
        entries[lastID] = Entry(
            descriptor: watched, isCopy: watched != descriptor, way: way, events: events, handler: handler)
        return PollToken(id: lastID)
    }

    mutating func setInterest(_ token: PollToken, events: CShort) {
        guard let entry = entries[token.id], entry.events != events else { return }
        entries[token.id]?.events = events
        guard entry.way == .epoll,
            Self.control(set, EPOLL_CTL_MOD, entry.descriptor, events: events, id: token.id) != 0
        else { return }
        Self.control(set, EPOLL_CTL_DEL, entry.descriptor, events: 0, id: token.id)
        entries[token.id]?.way = .poll
        others.append(token.id)
    }

    mutating func remove(_ token: PollToken) {
        guard let entry = entries.removeValue(forKey: token.id) else { return }
        if entry.way == .epoll {
            let result = Self.control(set, EPOLL_CTL_DEL, entry.descriptor, events: 0, id: token.id)
            assert(
                result != EBADF && result != ENOENT,
                "descriptor \(entry.descriptor) was closed while it was watched")
        } else {
            others.removeAll { $0 == token.id }
        }
        if entry.isCopy { Glibc.close(entry.descriptor) }
    }

    /// Returns 0, or an error's number.
    @discardableResult
    private static func control(
        _ set: CInt, _ operation: CInt, _ descriptor: CInt, events: CShort, id: UInt64
    ) -> CInt {
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
        let (files, polled) = (entries(of: .file).filter { $0.events != 0 }, entries(of: .poll))
        var limit = files.isEmpty ? timeout ?? -1 : 0
        if !polled.isEmpty || isWakePolled {
            poll(polled, timeout: limit, into: &reports)
            limit = 0
        }
        if set >= 0 { takeFromEpoll(timeout: limit, into: &reports) }
        for file in files { reports.append(Report(handler: file.handler, events: file.events)) }
    }

    private func entries(of way: Way) -> [Entry] {
        others.isEmpty ? [] : others.compactMap { entries[$0] }.filter { $0.way == way }
    }

    private mutating func takeFromEpoll(timeout: Int64, into reports: inout [Report]) {
        // A time-out, or EINTR: the loop comes round again.
        let count = cdescriptorio_epoll_wait(set, &happened, CInt(happened.count), timeout)
        for index in 0..<Int(max(count, 0)) {
            let (bits, id) = (happened[index].events, happened[index].data.u64)
            if id == Self.wakeID {
                takeWakeUp()
            } else if let entry = entries[id] {
                report(CShort(truncatingIfNeeded: bits), of: entry, into: &reports)
            }
        }
    }

    /// Waits by poll(2), also for what epoll has.
    private func poll(_ polled: [Entry], timeout: Int64, into reports: inout [Report]) {
        // poll(2) leaves out negative numbers.
        let own = [set, isWakePolled ? wakeDescriptor : -1].map { pollfd(fd: $0, events: CShort(POLLIN), revents: 0) }
        var all = own + polled.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        let bounds = [
            wakeDescriptor < 0 ? Self.longestDeafWait : .max,
            polled.contains { $0.events == 0 } ? Self.longestHangUpWait : .max,
        ]
        let bound = min(bounds[0], bounds[1])
        let limit = bound == .max ? timeout : timeout < 0 ? bound : min(timeout, bound)
        guard cdescriptorio_poll(&all, UInt(all.count), limit) > 0 else { return }
        if all[1].revents != 0 { takeWakeUp() }
        for (entry, state) in zip(polled, all.dropFirst(own.count)) { report(state.revents, of: entry, into: &reports) }
    }

    private func takeWakeUp() {
        var number: eventfd_t = 0
        eventfd_read(wakeDescriptor, &number)
    }

    private func report(_ events: CShort, of entry: Entry, into reports: inout [Report]) {
        let events = events & (entry.events | Self.always)
        if events != 0 { reports.append(Report(handler: entry.handler, events: events)) }
    }

    /// What is reported of a descriptor without being asked for.
    private static let always = CShort(POLLHUP | POLLERR)
}
