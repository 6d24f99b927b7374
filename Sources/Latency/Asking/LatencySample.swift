/// The times of one query and its answer, by the clock of the measurement.
public struct LatencySample: Sendable, Hashable {
    /// Bytes that the host received at one time: a chunk of a stream, or a packet.
    public struct Arrival: Sendable, Hashable {
        /// The time of arrival.
        public var time: Duration
        /// The number of bytes; at least 1.
        public var byteCount: Int

        /// Creates an arrival of a number of bytes.
        public init(_ time: Duration, _ byteCount: Int) { (self.time, self.byteCount) = (time, byteCount) }
    }

    /// The number of the query, from 0. The numbers of queries without a sample are missing.
    public var number: Int
    /// The time when the host began to send.
    public var sent: Duration
    /// The time when the link had accepted the query.
    public var taken: Duration
    /// The length of the query in bytes.
    public var questionLength: Int
    /// The arrivals of the answer, up to the chunk or packet that ends it; at least one.
    public var arrivals: [Arrival]

    /// Creates a sample from the times of a query and its answer.
    public init(number: Int, sent: Duration, taken: Duration, questionLength: Int, arrivals: [Arrival]) {
        (self.number, self.sent, self.taken) = (number, sent, taken)
        (self.questionLength, self.arrivals) = (questionLength, arrivals)
    }
}

/// The result of a measurement.
public struct LatencyRecord: Sendable {
    /// The queries whose answer came with nothing else in between.
    public var samples: [LatencySample] = []
    /// The number of answers that were left out, because the device sent something else in between.
    public var disturbedCount = 0
    /// The number of queries that the device refused, most likely because they were damaged on their way.
    public var refusedCount = 0
    /// The number of queries without an answer in time.
    public var unansweredCount = 0
    /// The delays with which the host woke from its own timers.
    public var wakeDelays: [Duration] = []
    /// The duration of the measurement, from the first answer.
    public var time = Duration.zero

    /// The number of queries that were sent.
    public var questionCount: Int { samples.count + disturbedCount + refusedCount + unansweredCount }
    /// Whether more than half of the queries had no answer in time. The measured times then say little about the
    /// device.
    public var isMostlyUnanswered: Bool { unansweredCount * 2 > questionCount }

    /// Creates an empty record.
    public init() {}
}
