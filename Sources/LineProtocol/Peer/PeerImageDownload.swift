/// Asks a peer for its image and hands it out as it comes: an image of any size takes no more memory than a line.
///
///     var download = PeerImageDownload(over: link, clock: ContinuousClock())
///     while let piece = try await download.next() {
///         if case .imageData(let bytes) = piece { file.write(bytes) }
///     }
///
/// The image is right only if nothing is thrown. Text and toggles that come meanwhile are handed out as well. The link is
/// the download's while it lasts, and open behind it.
public struct PeerImageDownload: Sendable {
    /// How long the image, and each further piece of it, is waited for where nothing else is said.
    public static let defaultTimeout = PeerDialogue.defaultTimeout
    /// From how many characters on base64 outside an image is of one that was asked for earlier.
    static let strayLength = 64

    /// Why there is no image.
    public enum Failure: Error, Sendable, Hashable {
        /// `refused`: the peer gives this reason. `noAnswer`: no image began, or it stopped; `linkLost`; `cancelled`.
        case session(SessionError)
        /// What came is no image as it was announced.
        case image(PeerImageError)
    }

    /// The image as it was announced; nil before that.
    public private(set) var image: PeerImage?
    /// How many bytes of it were handed out.
    public private(set) var byteCount = 0

    private enum Phase {
        case notAsked
        case asked(until: Duration)
        /// Nil for as long after it is next waited for as a piece may take.
        case arriving(until: Duration?)
        case over(Failure?)
    }

    private let reader: LinkReader
    private let timeout: Duration
    private var decoder: PeerDecoder
    private var pieces: ArraySlice<PeerPiece> = []
    private var phase = Phase.notAsked

    /// A download that begins with the first ``next()``.
    ///
    /// - Parameters:
    ///   - clock: What time-outs are measured by.
    ///   - timeout: How long the beginning of the image, and then each further piece, is waited for.
    public init(over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout) {
        reader = LinkReader(link, clock: clock)
        self.timeout = timeout
        decoder = PeerDecoder(keepsPacketBounds: link.keepsPacketBounds)
    }

    /// The next piece; nil once the image is whole.
    public mutating func next() async throws(Failure) -> PeerPiece? {
        if case .notAsked = phase { try await ask() }
        while true {
            while let piece = pieces.popFirst() {
                if let piece = take(piece) { return piece }
            }
            if case .over(let failure) = phase {
                if let failure { throw failure }
                return nil
            }
            do throws(LinkError) { try await read() } catch { phase = .over(.session(failure(error))) }
        }
    }

    private mutating func ask() async throws(Failure) {
        let link = reader.link
        if link.mayHaveReset {
            var dialogue = PeerDialogue(reader, timeout: timeout)
            do throws(SessionError) { try await dialogue.meet() } catch { throw .session(error) }
        }
        do throws(LinkError) {
            try await link.send(
                (link.mayBeMidLine ? [.lineFeed] : [])
                    + PeerCommand.getImage.bytes(keepsPacketBounds: link.keepsPacketBounds))
        } catch {
            throw .session(failure(error))
        }
        phase = .asked(until: reader.clock.elapsed() + timeout)
    }

    /// Follows the image; what of the piece is to be handed out.
    private mutating func take(_ piece: PeerPiece) -> PeerPiece? {
        switch piece {
        case .imageBegins(let image):
            phase = .arriving(until: nil)
            self.image = image
            byteCount = 0
        case .imageData(let bytes):
            phase = .arriving(until: nil)
            byteCount += bytes.count
        case .imageEnds: end(nil)
        case .imageFailed(let error): end(.image(error))
        case .imageRefused(let reason):
            end(
                .session(
                    SessionError(
                        .refused, command: PeerCommand.getImage.text, outcome: .nothingChanged, deviceCode: reason)))
        case .leftOut: return nil
        case .text(let text) where image == nil && Self.isStray(text.bytes):
            // The peer is about to answer when it is through with that.
            phase = .asked(until: reader.clock.elapsed() + timeout)
            return nil
        case .greeting, .acknowledgement, .toggle, .text: break
        }
        if case .over = phase { return nil }
        return piece
    }

    /// Whether a message is of an image that was asked for earlier, and began before we listened.
    package static func isStray(_ message: [UInt8]) -> Bool {
        message.count >= strayLength ? Base64Decoder.isBase64(message) : message == Array("IMG_END".utf8)
    }

    /// The image is whole, or failed: what follows is not of it.
    private mutating func end(_ failure: Failure?) {
        phase = .over(failure)
        pieces = []
    }

    private mutating func read() async throws(LinkError) {
        // A peer whose image has stopped may go on to talk: text does not extend the deadline.
        let deadline: Duration
        switch phase {
        case .asked(let end), .arriving(let end?): deadline = end
        case .notAsked, .arriving, .over:
            deadline = reader.clock.elapsed() + timeout
            phase = .arriving(until: deadline)
        }
        if let bytes = try await reader.next(by: deadline) {
            pieces = decoder.append(bytes)[...]
        } else {
            end(
                .session(
                    SessionError(
                        .noAnswer, command: PeerCommand.getImage.text, outcome: .nothingChanged, waited: timeout)))
        }
    }

    private func failure(_ error: LinkError) -> SessionError {
        SessionError(error, at: PeerCommand.getImage.text, outcome: .nothingChanged)
    }
}
