internal import LineProtocol

/// Shares a phone with the rescue app: a client's message is sent as it is, and each message of the phone goes to all.
///
/// Clients get one JSON object a line. Line ends within an object become blanks, which mean the same: in valid JSON they stand
/// between tokens only. What is no JSON object is dropped.
struct RescueRules: StreamRules {
    /// Nothing is answered.
    static let timing = StreamTiming()

    private var framer = RescueFramer()

    func request(_ line: [UInt8]) -> StreamRequest { StreamRequest(bytes: line) }

    mutating func begin(packetCapacity: Int?) {}

    mutating func take(_ bytes: [UInt8]) -> [StreamPiece] { framer.append(bytes).compactMap(piece) }

    mutating func finish() -> [StreamPiece] { framer.finish().compactMap(piece) }

    private func piece(_ piece: RescueFramer.Piece) -> StreamPiece? {
        guard case .object(let object) = piece else { return nil }
        return .forAll(object.map { $0 == 0x0A || $0 == 0x0D ? UInt8(ascii: " ") : $0 } + .lineEnd)
    }
}
