/// The times of a sample, in milliseconds by the clock of the measurement, and the lengths of query and answer in
/// bytes.
struct SampleTimes {
    /// The number of the query: ``LatencySample/number``.
    let number: Int
    /// The time when the host began to send.
    let sent: Double
    /// The time when the link had accepted the query, but not later than the first arrival: some links return only
    /// after it.
    let taken: Double
    /// The times of the first and of the last arrival.
    let first: Double
    let last: Double
    let questionLength: Double
    let replyLength: Double
    /// The arrivals, each with the number of the answer's bytes up to its end.
    private let chunks: [(time: Double, count: Double)]

    init(_ sample: LatencySample) {
        var count = 0.0
        chunks = sample.arrivals.map { arrival in
            count += Double(arrival.byteCount)
            return (arrival.time.milliseconds, count)
        }
        (number, sent) = (sample.number, sample.sent.milliseconds)
        first = chunks.first?.time ?? sent
        last = chunks.last?.time ?? sent
        taken = min(sample.taken.milliseconds, first)
        (questionLength, replyLength) = (Double(sample.questionLength), count)
    }

    var roundTrip: Double { last - sent }
    var write: Double { taken - sent }
    var arrivals: [Double] { chunks.map(\.time) }

    /// Whether the answer came in several chunks, so that its start is known to within a byte or two.
    var isPinned: Bool { chunks.count > 1 }

    /// The latest time at which the first bit of the answer can have been on the line: a chunk arrives no sooner than
    /// its last byte.
    func begin(byteTime: Double) -> Double {
        chunks.map { $0.time - $0.count * byteTime }.min() ?? first
    }
}
