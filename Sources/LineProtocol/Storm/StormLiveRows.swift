/// The live rows of a storm sensor, as they come.
///
///     for try await row in StormLiveRows(over: link) {
///         if let measurement = StormMeasurement(row: row) { … }
///     }
///
/// A row that is no measurement comes too, as it is. Text of the stored log, which somebody else may have asked for, does
/// not.
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
        private var pieces: ArraySlice<StormPiece> = []

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
                pieces = decoder.append(bytes)[...]
            }
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LinkError) -> [UInt8]? {
            try await next()
        }
    }
}
