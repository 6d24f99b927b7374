/// Requests an image from a peer, and delivers it piece by piece. An image of any size takes no more memory than a
/// line.
///
///     var download = PeerImageDownload(over: link, clock: ContinuousClock())
///     while let piece = try await download.next() {
///         if case .imageData(let bytes) = piece { file.write(bytes) }
///     }
///
/// The image is valid only if ``next()`` returns nil and has thrown nothing. All other messages that come in between
/// are also delivered. Nothing else may receive from the link during the download. The caller closes the link.
public struct PeerImageDownload: Sendable {
    /// The default time limit for the start of the image, and for each further piece.
    public static let defaultTimeout = PeerDialogue.defaultTimeout
    /// The least length, in bytes, at which a base64 message outside an image counts as the rest of an image that was
    /// requested earlier. A shorter message may be a word for people, which also consists of base64 characters.
    static let strayLength = 64

    /// The reason why there is no image.
    public enum Failure: Error, Sendable, Hashable {
        /// `refused`, with the peer's reason; `noAnswer` if no image began in time, or no further piece of it came in
        /// time; `linkLost`; `closed`; `cancelled`; `notUnderstood` if a device of another family answered, which is
        /// checked only if opening the link may have reset the device.
        case session(SessionError)
        /// The received image was rejected, for example because its size differs from the announced size.
        case image(PeerImageError)
    }

    /// The announcement of the image; nil until it has arrived.
    public private(set) var image: PeerImage?
    /// The number of bytes of the image that were delivered.
    public private(set) var byteCount = 0

    private enum Phase {
        case notAsked
        case asked(until: Duration)
        /// nil until the next read, which starts the timeout.
        case arriving(until: Duration?)
        case over(Failure?)
    }

    private let reader: LinkReader
    private let timeout: Duration
    private var decoder: PeerDecoder
    private var pieces: ArraySlice<PeerPiece> = []
    private var phase = Phase.notAsked

    /// Creates a download, which begins with the first ``next()``.
    ///
    /// - Parameters:
    ///   - link: The link to the peer.
    ///   - clock: The clock for time-outs.
    ///   - timeout: The time limit for the start of the image, and then for each further piece.
    public init(over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout) {
        reader = LinkReader(link, clock: clock)
        self.timeout = timeout
        decoder = PeerDecoder(keepsPacketBounds: link.keepsPacketBounds)
    }

    /// Returns the next piece; nil after the end of a complete image. The first call requests the image.
    ///
    /// - Throws: ``Failure``. A further call throws it again.
    public mutating func next() async throws(Failure) -> PeerPiece? {
        if case .notAsked = phase {
            do throws(Failure) { try await ask() } catch { phase = .over(error) }
        }
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

    /// Updates the state of the download with a piece. Returns the piece if the caller gets it; nil otherwise.
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
            // The peer answers the request after it has sent the rest of the earlier image.
            phase = .asked(until: reader.clock.elapsed() + timeout)
            return nil
        case .greeting, .acknowledgement, .toggle, .text: break
        }
        if case .over = phase { return nil }
        return piece
    }

    /// Whether a message looks like the rest of an image that began before this download: base64 of at least
    /// ``strayLength`` bytes, or `IMG_END`.
    package static func isStray(_ message: [UInt8]) -> Bool {
        message.count >= strayLength ? Base64Decoder.isBase64(message) : message == Array("IMG_END".utf8)
    }

    /// Ends the download. Pieces that have arrived after the end or failure of the image are dropped.
    private mutating func end(_ failure: Failure?) {
        phase = .over(failure)
        pieces = []
    }

    private mutating func read() async throws(LinkError) {
        // A peer whose image has stopped may still send text, so text does not extend the deadline.
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
