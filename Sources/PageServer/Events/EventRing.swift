/// The latest events, with numbers that increase by one, so that a reader that was away can go on.
///
/// A tick takes a number as well. It says that nothing else happened until then, so a reader's last number tells how old
/// the reader's view is.
struct EventRing {
    /// The largest number of events that are kept.
    static let capacity = 10_000
    /// The time for which an event is kept. The last one is kept for ever.
    static let time = Duration.seconds(60)

    private struct Entry {
        let time: Duration
        /// The event as it is sent.
        let bytes: [UInt8]
    }

    private var entries: [Entry] = []
    /// The number of entries at the beginning of the array that are no longer kept.
    private var dropped = 0
    /// The number of the entry at the beginning of the array.
    private var first: Int

    /// - Parameter number: The number of the first event. It must be higher than all numbers that an earlier server used,
    ///   so that none of them is taken for an event of this one.
    init(startingAt number: Int) { first = number }

    /// The number of the last event; one less than the first number if there was none.
    var last: Int { first + entries.count - 1 }

    /// Adds an event and returns its number.
    @discardableResult
    mutating func append(at time: Duration, _ bytes: (_ number: Int) -> [UInt8]) -> Int {
        let number = last + 1
        entries.append(Entry(time: time, bytes: bytes(number)))
        while entries.count - dropped > 1,
            entries.count - dropped > Self.capacity || entries[dropped].time + Self.time < time
        {
            dropped += 1
        }
        if dropped > entries.count / 2 {
            entries.removeFirst(dropped)
            first += dropped
            dropped = 0
        }
        return number
    }

    /// Returns the events behind a number, joined; nil if some of them are no longer kept, or the number is unknown.
    func events(after number: Int) -> [UInt8]? {
        guard number <= last, number >= first + dropped - 1 else { return nil }
        var bytes: [UInt8] = []
        for entry in entries[(number + 1 - first)...] { bytes += entry.bytes }
        return bytes
    }

    /// The time of an event; nil if it is no longer kept, or the number is unknown.
    func time(of number: Int) -> Duration? {
        (first + dropped...max(last, first + dropped)).contains(number) && !entries.isEmpty
            ? entries[number - first].time : nil
    }
}
