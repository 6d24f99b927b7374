internal import RecordFormat

/// The first line of a capture: what wrote it, and for what.
package struct CaptureHeader: Sendable, Hashable {
    /// The version of the format. It grows when a reader of an older version would misunderstand what is new.
    package static let version = 1

    /// What wrote the capture, as in `pumpctl 0.1.0`.
    package var program: String
    /// The device family, as in `pump`.
    package var family: String
    /// When times begin to count, by the system's clock as ISO 8601; times themselves are monotonic.
    package var started: String

    /// The header of a capture that begins now.
    package init(program: String, family: String) {
        self.init(program: program, family: family, started: RecordTime.now.iso8601)
    }

    package init(program: String, family: String, started: String) {
        (self.program, self.family, self.started) = (program, family, started)
    }
}

/// What a link says about its carrier, as far as a host acts on it.
package struct CarrierFacts: Sendable, Hashable {
    /// What the link was opened from, as it was typed.
    package var endpoint: String
    /// What the link calls itself.
    package var name: String
    package var keepsPacketBounds = false
    /// The most bytes of one write; nil where there is no bound.
    package var maximumWriteLength: Int?
    /// The most bytes that one packet brings; nil where there are no packets.
    package var packetCapacity: Int?
    package var deviceAddress: String?
    package var isDeviceAddressStable = true
    package var mayHaveReset = false
    package var mayBeMidLine = false

    package init(endpoint: String, name: String) { (self.endpoint, self.name) = (endpoint, name) }
}
