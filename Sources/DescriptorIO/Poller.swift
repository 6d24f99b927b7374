internal import CDescriptorIO
internal import Glibc

/// Told, on the loop's thread, what `poll` reported of a descriptor.
package protocol PollHandler: AnyObject, Sendable {
    func ready(_ events: CShort)
}

/// Names one watched descriptor until it is removed.
package struct PollToken: Hashable, Sendable {
    fileprivate let id: UInt64
}

/// The set of descriptors that a loop waits on, by `ppoll`.
///
/// `ppoll` and not epoll: the sets are small, nothing has to be told to the kernel when one changes, and its time-outs
/// are finer than a millisecond, which pacing at 115200 baud needs.
struct Poller {
    private struct Entry {
        let id: UInt64
        let handler: any PollHandler
    }

    /// `descriptors[0]` is the loop's own eventfd; `entries[i]` belongs to `descriptors[i + 1]`.
    private var descriptors: [pollfd]
    private var entries: [Entry] = []
    private var lastID: UInt64 = 0

    init(wakeDescriptor: CInt) {
        descriptors = [pollfd(fd: wakeDescriptor, events: CShort(POLLIN), revents: 0)]
    }

    mutating func add(_ descriptor: CInt, events: CShort, handler: any PollHandler) -> PollToken {
        lastID += 1
        descriptors.append(pollfd(fd: descriptor, events: events, revents: 0))
        entries.append(Entry(id: lastID, handler: handler))
        return PollToken(id: lastID)
    }

    mutating func setInterest(_ token: PollToken, events: CShort) {
        guard let index = index(of: token) else { return }
        descriptors[index + 1].events = events
    }

    mutating func remove(_ token: PollToken) {
        guard let index = index(of: token) else { return }
        descriptors.remove(at: index + 1)
        entries.remove(at: index)
    }

    private func index(of token: PollToken) -> Int? { entries.firstIndex { $0.id == token.id } }

    /// What a wait reported of one descriptor.
    struct Report {
        let handler: any PollHandler
        let events: CShort
    }

    /// Waits until something happens or `timeout` nanoseconds have gone by, and appends what happened to `reports`.
    ///
    /// The loop calls the handlers behind that: they may add and remove descriptors, their own among them.
    mutating func wait(timeout: Int64?, into reports: inout [Report]) {
        var ready = cdescriptorio_poll(&descriptors, UInt(descriptors.count), timeout ?? -1)
        guard ready > 0 else { return }  // a time-out, or EINTR: the loop comes round again
        if descriptors[0].revents != 0 {
            var count: eventfd_t = 0
            eventfd_read(descriptors[0].fd, &count)
            ready -= 1
        }
        guard ready > 0 else { return }
        for index in entries.indices where descriptors[index + 1].revents != 0 {
            reports.append(Report(handler: entries[index].handler, events: descriptors[index + 1].revents))
        }
    }
}
