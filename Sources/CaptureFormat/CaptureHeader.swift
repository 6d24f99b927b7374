internal import RecordFormat

/// The first line of a capture, which names its program, family and start time.
package struct CaptureHeader: Sendable, Hashable {
    /// The version of the format. It increases when readers of older versions would misunderstand new captures.
    package static let version = 1

    /// The program that wrote the capture, such as `pumpctl 0.1.0`.
    package var program: String
    /// The device family, such as `pump`.
    package var family: String
    /// The wall-clock time of the start, in ISO 8601. Times of events are monotonic, and count from the start.
    package var started: String

    /// Creates the header of a capture that starts now.
    package init(program: String, family: String) {
        self.init(program: program, family: family, started: RecordTime.now.iso8601)
    }

    package init(program: String, family: String, started: String) {
        (self.program, self.family, self.started) = (program, family, started)
    }
}

/// The facts about a link's carrier that a host acts on.
package struct CarrierFacts: Sendable, Hashable {
    /// The endpoint that the link was opened from, as it was typed.
    package var endpoint: String
    /// The link's name.
    package var name: String
    package var keepsPacketBounds = false
    /// The maximum number of bytes of one write; nil for no limit.
    package var maximumWriteLength: Int?
    /// The maximum number of bytes of one received packet; nil if the carrier has no packets.
    package var packetCapacity: Int?
    package var deviceAddress: String?
    package var isDeviceAddressStable = true
    package var mayHaveReset = false
    package var mayBeMidLine = false

    package init(endpoint: String, name: String) { (self.endpoint, self.name) = (endpoint, name) }
}
