/// The times of one question and its answer, by the clock of the measurement.
public struct LatencySample: Sendable, Hashable {
    /// Bytes that the host was handed at once: a chunk of a stream, or a packet.
    public struct Arrival: Sendable, Hashable {
        /// When.
        public var time: Duration
        /// How many; at least one.
        public var byteCount: Int

        /// Bytes that came at a time.
        public init(_ time: Duration, _ byteCount: Int) { (self.time, self.byteCount) = (time, byteCount) }
    }

    /// Which question it was, from 0: others may have been left out in between.
    public var number: Int
    /// When the host began to send.
    public var sent: Duration
    /// When the link had taken the question.
    public var taken: Duration
    /// How many bytes the question has.
    public var questionLength: Int
    /// What came in answer, up to the chunk or packet that ends it; at least one.
    public var arrivals: [Arrival]

    /// A question with its answer.
    public init(number: Int, sent: Duration, taken: Duration, questionLength: Int, arrivals: [Arrival]) {
        (self.number, self.sent, self.taken) = (number, sent, taken)
        (self.questionLength, self.arrivals) = (questionLength, arrivals)
    }
}

/// What a measurement has brought.
public struct LatencyRecord: Sendable {
    /// The questions that were answered, with nothing else in between.
    public var samples: [LatencySample] = []
    /// How many answers were left out because the device said something else meanwhile.
    public var disturbedCount = 0
    /// How many questions were refused: damaged on their way.
    public var refusedCount = 0
    /// How many questions were not answered in time.
    public var unansweredCount = 0
    /// How late the host woke from its own timers.
    public var wakeDelays: [Duration] = []
    /// How long it took.
    public var time = Duration.zero

    /// How many questions were asked.
    public var questionCount: Int { samples.count + disturbedCount + refusedCount + unansweredCount }
    /// Whether more than half of the questions were not answered in time: what was measured tells little of the device.
    public var isMostlyUnanswered: Bool { unansweredCount * 2 > questionCount }

    /// Nothing was measured yet.
    public init() {}
}
