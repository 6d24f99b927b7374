internal import DeviceKit

/// The sharing rules of a device of unknown family: client bytes are sent unchanged, and everything the device sends
/// goes to all clients, as replies can't be distinguished from other output.
struct RawRules: StreamRules {
    static let timing = StreamTiming()
    static let endsHalfLines = false

    func request(_ bytes: [UInt8]) -> StreamRequest { StreamRequest(bytes: bytes) }

    mutating func begin(packetCapacity: Int?) {}

    mutating func take(_ bytes: [UInt8]) -> [StreamPiece] { [.forAll(bytes)] }

    mutating func finish() -> [StreamPiece] { [] }
}

extension SharedFamily {
    static let raw = SharedFamily(.raw, framing: .bytes) { _, _ in RawRules() }
}
