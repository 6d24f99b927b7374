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
    /// Whether data arrives in the packets in which it was sent.
    package var keepsPacketBounds = false
    /// The maximum number of bytes of one write; nil for no limit.
    package var maximumWriteLength: Int?
    /// The maximum number of bytes of one received packet; nil if it is unknown, or the carrier has no packets.
    package var packetCapacity: Int?
    /// The address of the device, if the endpoint may lead to another device next time; nil otherwise.
    package var deviceAddress: String?
    /// Whether the device keeps its address.
    package var isDeviceAddressStable = true
    /// Whether opening the link may have reset the device.
    package var mayHaveReset = false
    /// Whether the device may have received the beginning of a line that nobody has ended.
    package var mayBeMidLine = false

    package init(endpoint: String, name: String) { (self.endpoint, self.name) = (endpoint, name) }
}
