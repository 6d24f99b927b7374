/// The latest events, with numbers that increase by one, so that a reader that was away can go on.
///
/// A tick (``PageServer/tick()``) takes a number as well. Each number shows up to which time its reader knows
/// everything: see ``time(of:)``. All times are values of ``PageServer/now``.
struct EventRing {
    /// The largest number of events that are kept.
    static let capacity = 10_000
    /// The time for which an event is kept; longer than the 10 s for which a state that a client has seen permits
    /// changes. The last event is always kept.
    static let time = Duration.seconds(60)

    /// The largest number of bytes that are kept.
    static let byteLimit = 8 << 20

    private struct Entry {
        let time: Duration
        /// The time up to which everything that happened is in the ring.
        let certainUntil: Duration
        /// The event as it is sent.
        let bytes: [UInt8]
    }

    private var entries: [Entry] = []
    /// The number of entries at the beginning of the array that are no longer kept.
    private var dropped = 0
    /// The number of bytes of the entries that are kept.
    private var byteCount = 0
    /// The number of the entry at the beginning of the array.
    private var first: Int

    /// - Parameter number: The number of the first event. No earlier server may have used it or a number near it: a
    ///   client would take an earlier event for one of this server.
    init(startingAt number: Int) { first = number }

    /// The number of the last event; one less than the first number if there was none.
    var last: Int { first + entries.count - 1 }

    /// Adds an event and returns its number.
    ///
    /// - Parameters:
    ///   - time: The present time.
    ///   - certainUntil: The time up to which everything that happened is in the ring with this event.
    ///   - bytes: Returns the event as it is sent.
    @discardableResult
    mutating func append(
        at time: Duration, certainUntil: Duration, _ bytes: (_ number: Int) -> [UInt8]
    ) -> Int {
        let number = last + 1
        let entry = Entry(time: time, certainUntil: certainUntil, bytes: bytes(number))
        entries.append(entry)
        byteCount += entry.bytes.count
        while entries.count - dropped > 1,
            entries.count - dropped > Self.capacity || byteCount > Self.byteLimit
                || entries[dropped].time + Self.time < time
        {
            byteCount -= entries[dropped].bytes.count
            dropped += 1
        }
        if dropped > entries.count / 2 {
            entries.removeFirst(dropped)
            first += dropped
            dropped = 0
        }
        return number
    }

    /// Returns the joined events behind a number, and the number of the last one; nil if an event is no longer kept, or
    /// the number is unknown.
    ///
    /// - Parameter size: The number of bytes after which no further event is added.
    func events(after number: Int, upTo size: Int = 1 << 16) -> (bytes: [UInt8], last: Int)? {
        guard number <= last, number >= first + dropped - 1 else { return nil }
        var (bytes, end) = ([UInt8](), number)
        while end < last, bytes.count < size {
            end += 1
            bytes += entries[end - first].bytes
        }
        return (bytes, end)
    }

    /// The time up to which a reader of an event knows everything that happened; nil if the event is no longer kept, or
    /// the number is unknown.
    func time(of number: Int) -> Duration? {
        (first + dropped...max(last, first + dropped)).contains(number) && !entries.isEmpty
            ? entries[number - first].certainUntil : nil
    }
}
