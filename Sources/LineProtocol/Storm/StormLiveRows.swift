/// The live rows of a storm sensor as an asynchronous sequence.
///
///     for try await row in StormLiveRows(over: link) {
///         if let measurement = StormMeasurement(row: row) { … }
///     }
///
/// Rows that are not measurements are included, unchanged. Not included are text of the stored log, which another
/// program may have requested, and a row that a restart of the sensor or the end of the link has cut off.
public struct StormLiveRows: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = LinkError

    private let link: any Link
    private let characteristic: StormCharacteristic

    /// Creates the sequence of rows that arrive on `link` from now on, until the link is closed.
    ///
    /// - Parameters:
    ///   - link: The link to the sensor.
    ///   - characteristic: The characteristic that the link carries.
    public init(over link: any Link, from characteristic: StormCharacteristic = .backup) {
        self.link = link
        self.characteristic = characteristic
    }

    public func makeAsyncIterator() -> Iterator { Iterator(link, characteristic) }

    /// Reads from the link when no row is left. ``next()`` throws if the far end is gone or the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        private let link: any Link
        private var decoder: StormDecoder
        private var finder = ESP32ResetFinder()
        private var pieces: ArraySlice<StormPiece> = []
        private var isFull = false

        /// Whether the last row may have lost its end, because it filled its packet.
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

        /// Decodes bytes of a stream. A row that a restart has cut off is dropped.
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
