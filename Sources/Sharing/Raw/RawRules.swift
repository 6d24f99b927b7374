internal import DeviceKit

/// Shares a device of no known family: what a client sends goes to the device as it is, and all clients get what the device
/// says, since nothing tells whom it answers.
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
