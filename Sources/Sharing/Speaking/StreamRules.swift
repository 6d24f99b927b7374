/// How a family without single-line answers is shared over one link: what is sent for a client's line, and which client gets
/// what arrives.
///
/// Rules are pure values: ``StreamSpeaker`` has the link and the clock.
protocol StreamRules: Sendable {
    /// How long silences are.
    static var timing: StreamTiming { get }

    /// Whether a line that another program may have left half sent is ended before anything is sent.
    static var endsHalfLines: Bool { get }

    /// What is sent for a line of a client.
    func request(_ line: [UInt8]) -> StreamRequest

    /// An answer is expected from now on.
    ///
    /// - Parameter packetCapacity: As ``LineProtocol/Link/packetCapacity()``.
    mutating func begin(packetCapacity: Int?)

    /// Takes in what arrived: a packet where the link keeps packet bounds, else bytes that are cut anywhere.
    mutating func take(_ bytes: [UInt8]) -> [StreamPiece]

    /// What was held back of the answer, now that it is over: the device is silent, or the link is lost.
    mutating func finish() -> [StreamPiece]
}

extension StreamRules {
    static var endsHalfLines: Bool { true }
}

/// The silences that separate a device's answers.
struct StreamTiming: Sendable, Hashable {
    /// How long the device must be silent before it is asked, so that the tail of an earlier answer is not taken for this one.
    var hush = Duration.zero
    /// How long the beginning of an answer is waited for.
    var timeout = Duration.zero
    /// How long a silence ends an answer that has begun.
    var quiet = Duration.zero
}

/// What is sent for a line of a client.
struct StreamRequest: Sendable, Hashable {
    /// The bytes, a packet of their own where the link keeps packet bounds.
    var bytes: [UInt8]
    /// Whether the client holds the turn until the device has answered. Other lines are sent at once, without a turn.
    var isAnswered = false
}

/// A piece of what a device says, by who gets it.
enum StreamPiece: Sendable, Hashable {
    /// A line for all clients, with its end.
    case forAll([UInt8])
    /// Bytes for the asker; dropped if there is none. Empty where something of the answer came and is held back.
    case forAsker([UInt8])
    /// Something of the answer is missing.
    case broken
    /// The answer is over.
    case answerEnds

    var isForAsker: Bool { if case .forAsker = self { true } else { false } }
}

extension [UInt8] {
    /// What ends a line for a client: the line end of Arduino's `println`, which devices on a serial port write.
    static var lineEnd: [UInt8] { [0x0D, 0x0A] }
}
