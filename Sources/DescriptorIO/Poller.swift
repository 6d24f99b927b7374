internal import CDescriptorIO
internal import Glibc

/// A handler for events of a descriptor, in the bits of poll(2). Called on the loop's thread.
package protocol PollHandler: AnyObject, Sendable {
    func ready(_ events: CShort)
}

/// The ID of a watched descriptor, valid until its removal.
package struct PollToken: Hashable, Sendable {
    fileprivate let id: UInt64
}

/// The set of descriptors that a loop waits on, by epoll: the cost of a wait depends on the number of events, not of
/// descriptors.
///
/// Each change is passed to the kernel at once. A descriptor must be removed before it is closed: a child process that
/// is just being started has a copy, so that the kernel would go on reporting events of a closed number.
///
/// If epoll refuses a descriptor, as when the kernel has no memory left, poll(2) waits for it instead: a program that
/// must switch off a device must not end for such a reason.
struct Poller {
    /// The way of waiting for a descriptor.
    private enum Way {
        case epoll
        /// By poll(2), after epoll has failed.
        case poll
        /// No waiting: epoll refuses regular files, which are always readable and writable.
        case file
    }

    private struct Entry {
        /// The descriptor that the kernel watches: the original, or a copy if the original is watched already.
        let descriptor: CInt
        let isCopy: Bool
        var way: Way
        var events: CShort
        let handler: any PollHandler
    }

    /// The epoll descriptor; -1 if it could not be created.
    private let set: CInt
    /// The eventfd that ends a wait from another thread; -1 if there is none, in which case each wait is short.
    private let wakeDescriptor: CInt
    /// Whether poll(2) waits for `wakeDescriptor`, since epoll could not be created or has refused it. Also true if
    /// there is no such descriptor, which poll(2) then ignores.
    private let isWakePolled: Bool
    private var entries: [UInt64: Entry] = [:]
    /// The IDs of ``entries`` that epoll does not wait for.
    private var others: [UInt64] = []
    private var lastID = Self.wakeID
    /// The events of one call of epoll_wait(2), which reports further events in the next call.
    private var happened = [epoll_event](repeating: epoll_event(), count: 128)

    private static let wakeID: UInt64 = 0
    /// The longest wait, in nanoseconds, if no other thread can end a wait.
    private static let longestDeafWait: Int64 = 10_000_000
    /// The longest wait, in nanoseconds, if poll(2) waits only for the hang-up of a descriptor: a terminal's hang-up
    /// ends only waits for input or output. Both limits are chosen: shorter waits would wake an idle loop more often.
    private static let longestHangUpWait: Int64 = 100_000_000

    /// Creates a set that contains only the descriptor for wake-ups.
    ///
    /// - Parameters:
    ///   - wakeDescriptor: The eventfd that ends a wait from another thread; -1 for none.
    ///   - usesEpoll: Whether to use epoll; if false, poll(2) waits for all descriptors.
    init(wakeDescriptor: CInt, usesEpoll: Bool = true) {
        self.wakeDescriptor = wakeDescriptor
        set = usesEpoll ? epoll_create1(CInt(EPOLL_CLOEXEC)) : -1
        isWakePolled = Self.control(set, EPOLL_CTL_ADD, wakeDescriptor, events: CShort(POLLIN), id: Self.wakeID) != 0
    }

    func close() { if set >= 0 { Glibc.close(set) } }

    /// Adds a descriptor. A second watch of the same descriptor gets a copy of it, because epoll takes each descriptor
    /// only once.
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
        // epoll has refused the change: from now on, poll(2) waits for the descriptor.
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

    /// Calls epoll_ctl(2). Returns 0, or the errno of the failure.
    @discardableResult
    private static func control(
        _ set: CInt, _ operation: CInt, _ descriptor: CInt, events: CShort, id: UInt64
    ) -> CInt {
        // To wait only for a hang-up, wait for input as well, since a terminal's hang-up ends only waits for input or
        // output. With edge triggering, input that nobody reads is reported only once.
        let bits = events == 0 ? EPOLLIN.rawValue | EPOLLET.rawValue : UInt32(UInt16(bitPattern: events))
        var event = epoll_event(events: bits, data: epoll_data_t(u64: id))
        return epoll_ctl(set, operation, descriptor, &event) == 0 ? 0 : errno
    }

    /// The events of a descriptor, with the handler to call.
    struct Report {
        let handler: any PollHandler
        let events: CShort
    }

    /// Waits for events, for at most `timeout` nanoseconds, or without limit if nil, and appends them to `reports`. May
    /// return earlier without events.
    ///
    /// The loop calls the handlers afterwards; handlers may add and remove descriptors, including their own.
    mutating func wait(timeout: Int64?, into reports: inout [Report]) {
        if others.isEmpty, !isWakePolled, set >= 0 { return takeFromEpoll(timeout: timeout ?? -1, into: &reports) }
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
        others.compactMap { entries[$0] }.filter { $0.way == way }
    }

    private mutating func takeFromEpoll(timeout: Int64, into reports: inout [Report]) {
        // A time-out and EINTR add no reports; the loop then waits again.
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

    /// Waits by poll(2) for the descriptors that epoll refused, for the epoll descriptor, and for the wake-up
    /// descriptor if epoll does not wait for it.
    private func poll(_ polled: [Entry], timeout: Int64, into reports: inout [Report]) {
        // poll(2) ignores negative descriptors.
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

    /// The events that are reported without being requested.
    private static let always = CShort(POLLHUP | POLLERR)
}
