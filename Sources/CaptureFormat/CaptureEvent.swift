/// An event on a link: one line of a capture.
package struct CaptureEvent: Sendable, Hashable {
    /// Bytes that a link transferred in one piece: one packet, if the carrier keeps packet bounds.
    package struct Piece: Sendable, Hashable {
        package var bytes: [UInt8]
        /// The lines that this piece completes, without line ends; for a packet, the packet itself. A replay uses
        /// ``bytes`` only.
        package var lines: [String]

        package init(_ bytes: [UInt8], lines: [String] = []) { (self.bytes, self.lines) = (bytes, lines) }
    }

    /// The kind of event with its data.
    package enum Content: Sendable, Hashable {
        /// The host opened the link.
        case opened(CarrierFacts)
        /// The host sent bytes to the device.
        case sent(Piece)
        /// The host received bytes from the device.
        case received(Piece)
        /// The host held the line in the break condition for this time.
        case breakSent(Duration)
        /// The link was lost, with the code of the error and its detail, if it has one; or the host closed the link,
        /// with nil for both.
        case ended(code: String?, detail: String?)
    }

    /// The time since the capture began. A file stores whole microseconds.
    package var time: Duration
    /// The number of the link within the capture, from 1.
    package var link: Int
    package var content: Content

    package init(at time: Duration, link: Int, _ content: Content) {
        (self.time, self.link, self.content) = (time, link, content)
    }
}
