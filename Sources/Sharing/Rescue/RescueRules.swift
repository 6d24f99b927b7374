internal import LineProtocol

/// The sharing rules of a phone with the rescue app: client messages are sent unchanged, and each message of the phone
/// goes to all clients.
///
/// Clients receive one JSON object a line. Line ends in an object become blanks, with the same meaning: valid JSON has
/// line ends between tokens only. Anything that is no JSON object is dropped.
struct RescueRules: StreamRules {
    /// The protocol has no replies.
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
