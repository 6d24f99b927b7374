/// The sharing rules of a family whose replies are not single lines: the bytes to send for a client's line, and the
/// clients that receive each piece of output.
///
/// Rules are pure values. ``StreamSpeaker`` has the link and the clock.
protocol StreamRules: Sendable {
    /// The silences and the time-out by which the beginning and the end of an answer are recognized.
    static var timing: StreamTiming { get }

    /// Whether the first write starts with a line end if the link may be within an incomplete line:
    /// ``LineProtocol/Link/mayBeMidLine``.
    static var endsHalfLines: Bool { get }

    /// Returns the request for a client's line.
    func request(_ line: [UInt8]) -> StreamRequest

    /// Prepares for the answer to a request, which is about to be sent.
    ///
    /// - Parameter packetCapacity: The link's ``LineProtocol/Link/packetCapacity()``.
    mutating func begin(packetCapacity: Int?)

    /// Adds input, and returns the pieces of output that it completes. The input is one packet if the link keeps packet
    /// bounds, otherwise bytes that may be cut anywhere.
    mutating func take(_ bytes: [UInt8]) -> [StreamPiece]

    /// Returns the buffered rest of an answer when the device is silent or the link is lost.
    mutating func finish() -> [StreamPiece]
}

extension StreamRules {
    static var endsHalfLines: Bool { true }
}

/// The silences and the time-out by which the beginning and the end of an answer are recognized.
struct StreamTiming: Sendable, Hashable {
    /// The time without any part of an answer that must precede a request, so that the tail of an earlier answer is not
    /// taken for the new one.
    var hush = Duration.zero
    /// The time-out for the beginning of an answer.
    var timeout = Duration.zero
    /// The silence that ends an answer.
    var quiet = Duration.zero
}

/// The request to send for a client's line.
struct StreamRequest: Sendable, Hashable {
    /// The bytes to send, as one packet if the link keeps packet bounds.
    var bytes: [UInt8]
    /// Whether the client keeps its turn until the device has answered. Other requests are sent at once, without a
    /// turn.
    var isAnswered = false
}

/// A piece of a device's output, by its receivers.
enum StreamPiece: Sendable, Hashable {
    /// Output for all clients: a line with its line end, a part of a long line, or any bytes of a raw device.
    case forAll([UInt8])
    /// Bytes for the asker; dropped if there is none. Empty if a part of the answer arrived and is still buffered.
    case forAsker([UInt8])
    /// A part of the answer is missing.
    case broken
    /// The answer is complete.
    case answerEnds

    var isForAsker: Bool { if case .forAsker = self { true } else { false } }
}

extension [UInt8] {
    /// The line end for clients: that of Arduino's `println`, which devices on a serial port send.
    static var lineEnd: [UInt8] { [0x0D, 0x0A] }
}
