internal import LineProtocol

/// The sharing rules of a storm sensor: the log goes to the client that sent `GET_LOG`, live rows go to all clients,
/// and the echo of the command is dropped.
///
/// Log text that no client has requested is dropped: a client could take it for its own log.
///
/// On a stream the log is passed on byte for byte, including what the boot ROM prints if the sensor restarts. On a
/// packet link the packets are joined to complete lines after one prefix.
struct StormRules: StreamRules {
    static let timing = StreamTiming(
        hush: StormDownload.hush, timeout: StormDownload.defaultTimeout, quiet: StormDownload.defaultQuiet)

    private static let command = Array(StormDownload.command.utf8)
    private static let logPrefix = Array("LOG Values: ".utf8)
    private static let livePrefix = Array("LIVE LOG: ".utf8)

    private let keepsPacketBounds: Bool
    private var decoder: StormDecoder
    /// Finds a restart of the sensor in the text of its boot ROM; used on a stream only.
    private var finder = ESP32ResetFinder()
    /// Whether the sensor has restarted since the log was requested.
    private var hasRestarted = false
    /// The log that arrives in packets; nil on a stream, and while no log is expected.
    private var packets: StormLogPackets?

    /// Creates the rules for a link that carries `characteristic`.
    init(of characteristic: StormCharacteristic, keepsPacketBounds: Bool) {
        self.keepsPacketBounds = keepsPacketBounds
        decoder = StormDecoder(of: characteristic, keepsPacketBounds: keepsPacketBounds, keepsLineEndOfPrefix: true)
    }

    func request(_ line: [UInt8]) -> StreamRequest {
        StreamRequest(bytes: line + (keepsPacketBounds ? [] : [0x0A]), isAnswered: line == Self.command)
    }

    mutating func begin(packetCapacity: Int?) {
        // Drop the rest of an earlier log, but not a live row that is still arriving.
        if !decoder.isWithinRow { _ = decoder.finish() }
        hasRestarted = false
        packets = keepsPacketBounds ? StormLogPackets(packetCapacity: packetCapacity) : nil
    }

    mutating func take(_ bytes: [UInt8]) -> [StreamPiece] {
        // The boot ROM prints on the serial line only.
        if keepsPacketBounds { return packet(decoder.append(bytes)) }
        var pieces: [StreamPiece] = []
        for piece in finder.append(bytes) {
            switch piece {
            case .bytes(let bytes): pieces += decoder.append(bytes).map(piece(_:))
            case .reset:
                // Drops a live row that was cut off: its value may have lost digits.
                pieces += decoder.finish().map(piece(_:))
                hasRestarted = true
            }
        }
        return pieces
    }

    mutating func finish() -> [StreamPiece] {
        defer {
            packets = nil
            hasRestarted = false
        }
        if keepsPacketBounds { return packets?.finish() ?? [] }
        var pieces = decoder.append(finder.finish()).map(piece(_:))
        // The rest of a live row may still arrive.
        if !decoder.isWithinRow { pieces += decoder.finish().map(piece(_:)) }
        return pieces + (hasRestarted ? [.broken] : [])
    }

    private func piece(_ piece: StormPiece) -> StreamPiece {
        switch piece {
        case .logBegins: .forAsker(Self.logPrefix)
        case .log(let text): .forAsker(text)
        case .live(let row): .forAll(Self.livePrefix + row + .lineEnd)
        }
    }

    /// Converts the decoded pieces of one packet.
    private mutating func packet(_ pieces: [StormPiece]) -> [StreamPiece] {
        guard packets != nil else { return pieces.map(piece(_:)) }
        var prefix: [UInt8] = []
        var output: [StreamPiece] = []
        for piece in pieces {
            switch piece {
            case .logBegins: prefix = Self.logPrefix
            case .log(let text):
                output += packets?.append(text, behind: prefix) ?? []
                return output
            case .live:
                // A line of the log is buffered until it is complete, unless it is too long for the buffer. Then its
                // beginning was sent already, and must be ended.
                output += packets?.endLine() ?? []
                output.append(self.piece(piece))
            }
        }
        if !prefix.isEmpty { output += packets?.append([], behind: prefix) ?? [] }
        return output
    }
}
