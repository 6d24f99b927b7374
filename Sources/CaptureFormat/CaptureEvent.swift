/// Something that happened on a link: one line of a capture.
package struct CaptureEvent: Sendable, Hashable {
    /// Bytes that went over a link in one piece: one packet, where the carrier keeps packet bounds.
    package struct Piece: Sendable, Hashable {
        package var bytes: [UInt8]
        /// The lines that the piece has completed, without their ends; the piece itself where it is a packet.
        package var lines: [String]

        package init(_ bytes: [UInt8], lines: [String] = []) { (self.bytes, self.lines) = (bytes, lines) }
    }

    /// What happened.
    package enum Content: Sendable, Hashable {
        case opened(CarrierFacts)
        case sent(Piece)
        case received(Piece)
        /// The line was held in the break condition.
        case breakSent(Duration)
        /// The link was lost with an error, or closed by the host without one.
        case ended(code: String?, detail: String?)
    }

    /// The time since the capture began. A file keeps whole microseconds.
    package var time: Duration
    /// Which of the links of the capture it was, from 1.
    package var link: Int
    package var content: Content

    package init(at time: Duration, link: Int, _ content: Content) {
        (self.time, self.link, self.content) = (time, link, content)
    }
}
