/// The answers to changes by their IDs, so that a change that is sent again is not carried out again.
struct CommandLog<Answer: Sendable> {
    /// The largest number of IDs that are kept.
    static var capacity: Int { 10_000 }
    /// The time for which an ID is kept.
    static var time: Duration { .seconds(600) }

    struct Entry {
        let time: Duration
        /// A hash of the request; another request with the same ID is an error.
        let request: Int
        /// The task that carries out the change. It is cancelled when no client waits for the answer any more.
        let answer: Task<Answer, Never>
        let askers = Askers()
    }

    /// The number of connections whose clients wait for an answer.
    final class Askers { var count = 0 }

    private var entries: [String: Entry] = [:]
    /// The IDs in the order of their arrival.
    private var order: [String] = []
    /// The number of IDs at the beginning of ``order`` that are no longer kept.
    private var dropped = 0

    /// Returns the entry of an ID that was used before.
    mutating func entry(_ id: String, at now: Duration) -> Entry? {
        dropOld(at: now, room: 0)
        return entries[id]
    }

    /// Adds the entry of a new ID.
    mutating func add(_ id: String, _ entry: Entry) {
        dropOld(at: entry.time, room: 1)
        entries[id] = entry
        order.append(id)
    }

    private mutating func dropOld(at now: Duration, room: Int) {
        while dropped < order.count,
            order.count - dropped + room > Self.capacity
                || entries[order[dropped]].map({ $0.time + Self.time < now }) ?? true
        {
            entries[order[dropped]] = nil
            dropped += 1
        }
        if dropped > order.count / 2 {
            order.removeFirst(dropped)
            dropped = 0
        }
    }
}
