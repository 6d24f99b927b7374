internal import CaptureFormat

/// The events of one link of a capture, read during playback.
struct ReplayTape: ~Copyable, Sendable {
    /// The facts about the captured link's carrier.
    let facts: CarrierFacts
    /// The time at which the captured link was opened, counted from the beginning of the capture.
    let openedAt: Duration
    /// The number by which the events of the capture name the link.
    private let number: Int
    private var reader: CaptureReader

    /// The place of the line that was read last, such as `pump.capture:12`.
    var place: String { "\(reader.path):\(reader.lineNumber)" }
    /// The end of the file, for messages; with the number of the last line if that line is incomplete.
    var end: String {
        "the end of " + reader.path + (reader.isCut ? ", which was cut off in line \(reader.lineNumber)" : "")
    }

    /// Finds a link of a file.
    ///
    /// - Parameter link: The link's number in the order of opening, from 1.
    init(_ path: String, link: Int) throws(CaptureError) {
        var reader = try CaptureReader(path)
        (facts, number, openedAt) = try Self.opening(of: link, in: &reader)
        self.reader = reader
    }

    private static func opening(
        of link: Int, in reader: inout CaptureReader
    ) throws(CaptureError) -> (CarrierFacts, Int, Duration) {
        var count = 0
        while let event = try reader.next() {
            guard case .opened(let facts) = event.content else { continue }
            count += 1
            if count == link { return (facts, event.link, event.time) }
        }
        throw CaptureError(noLink: link, of: count, reader.path)
    }

    /// Returns the next event of the link; nil at the end of the file.
    mutating func next() throws(CaptureError) -> CaptureEvent? {
        while let event = try reader.next() {
            if event.link == number { return event }
        }
        return nil
    }
}
