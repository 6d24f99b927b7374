/// The live rows of a storm sensor, as they come.
///
///     for try await row in StormLiveRows(over: link) {
///         if let measurement = StormMeasurement(row: row) { … }
///     }
///
/// A row that is no measurement comes too, as it is. Text of the stored log, which somebody else may have asked for, does
/// not, nor does a row that was cut off by a restart of the sensor.
public struct StormLiveRows: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = LinkError

    private let link: any Link
    private let characteristic: StormCharacteristic

    /// The rows that arrive on `link` from now on, until it is closed.
    ///
    /// - Parameter characteristic: What the link carries.
    public init(over link: any Link, from characteristic: StormCharacteristic = .backup) {
        self.link = link
        self.characteristic = characteristic
    }

    public func makeAsyncIterator() -> Iterator { Iterator(link, characteristic) }

    /// Asks the link for more when it has no row left. It throws when the far end is gone.
    public struct Iterator: AsyncIteratorProtocol {
        private let link: any Link
        private var decoder: StormDecoder
        private var finder = ESP32ResetFinder()
        private var pieces: ArraySlice<StormPiece> = []
        private var isFull = false

        /// Whether the end of the row that came last may have been lost: it has filled its packet.
        public var mayBeCut: Bool { isFull }

        init(_ link: any Link, _ characteristic: StormCharacteristic) {
            self.link = link
            decoder = StormDecoder(of: characteristic, keepsPacketBounds: link.keepsPacketBounds)
        }

        public mutating func next() async throws(LinkError) -> [UInt8]? {
            while true {
                while let piece = pieces.popFirst() {
                    if case .live(let row) = piece { return row }
                }
                guard let bytes = try await link.receive() else { return nil }
                if link.keepsPacketBounds {
                    isFull = await link.packetCapacity() == bytes.count && bytes.last != .lineFeed
                    pieces = decoder.append(bytes)[...]
                } else {
                    pieces = decode(bytes)[...]
                }
            }
        }

        /// The pieces of what arrived on a stream. What a restart has cut off is left out.
        private mutating func decode(_ bytes: [UInt8]) -> [StormPiece] {
            var pieces: [StormPiece] = []
            for piece in finder.append(bytes) {
                switch piece {
                case .bytes(let bytes): pieces += decoder.append(bytes)
                case .reset: _ = decoder.finish()
                }
            }
            return pieces
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> [UInt8]? {
            try await next()
        }
    }
}
