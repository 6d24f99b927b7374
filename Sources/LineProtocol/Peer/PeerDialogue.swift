/// Sends commands to a peer. A peer need not answer.
///
///     var dialogue = PeerDialogue(over: link, clock: ContinuousClock())
///     try await dialogue.meet()
///     let isAcknowledged = try await dialogue.say(.toggle(true))
///
/// The published peer answers nothing, not even `Hello`. A peer that acknowledges a `Hello` has read everything that
/// was sent before this `Hello`. So if a peer acknowledges at all, a `Hello` is sent after each command.
public struct PeerDialogue: Sendable {
    /// The default time limit for an acknowledgement.
    public static let defaultTimeout = Duration.seconds(3)
    /// The longest time that a board takes to start after a reset, as ``Session/startTime``.
    public static let startTime = Duration.seconds(8)
    /// The time limit for the first acknowledgement, if the device is known to be a peer.
    static let acknowledgementTime = Duration.milliseconds(500)
    /// The time in which a device on a line can show that it belongs to another family. A pump answers within 250 ms.
    static let introductionTime = Duration.milliseconds(1500)
    /// The length of the silence after which no further acknowledgement of a repeated `Hello` is expected.
    static let hush = Duration.milliseconds(100)

    private let reader: LinkReader
    private let timeout: Duration
    private var decoder: PeerDecoder
    private var pieces: ArraySlice<PeerPiece> = []
    /// Whether the peer has acknowledged a `Hello`.
    private var acknowledges = false
    /// Whether the device has sent a line that only peers send, or the link keeps packet bounds: over BLE a peer is
    /// identified by its service.
    private var isKnownPeer: Bool
    /// Whether any bytes have come from the device during a wait for an acknowledgement.
    public private(set) var hasHeard = false

    /// Creates a dialogue over `link`. The caller closes the link.
    ///
    /// - Parameters:
    ///   - link: The link to the peer.
    ///   - clock: The clock for time-outs.
    ///   - timeout: The time limit for the acknowledgement of a command. A peer that did not acknowledge `Hello` is not
    ///     waited for.
    public init(over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout) {
        self.init(LinkReader(link, clock: clock), timeout: timeout)
    }

    init(_ reader: LinkReader, timeout: Duration) {
        self.reader = reader
        self.timeout = timeout
        isKnownPeer = reader.link.keepsPacketBounds
        decoder = PeerDecoder(keepsPacketBounds: reader.link.keepsPacketBounds)
    }

    /// Sends `Hello`, and checks that the device is not of another family. If opening the link may have reset the
    /// device, this waits until the device has started. Call this function before ``say(_:)``.
    ///
    /// A silent device counts as a peer. A device of another family is refused: `ON` would start a pump.
    ///
    /// - Throws: `notUnderstood` if a device of another family answered; `linkLost`, `closed`, or `cancelled`.
    public mutating func meet() async throws(SessionError) {
        let foreignLine: [UInt8]?
        do throws(LinkError) {
            // Ends a line that another program may have begun.
            if reader.link.mayBeMidLine { try await reader.link.send([.lineFeed]) }
            foreignLine = try await introduce()
        } catch {
            throw SessionError(error, at: PeerCommand.hello.text, outcome: .nothingChanged)
        }
        guard let foreignLine else { return }
        throw SessionError(
            .notUnderstood, command: PeerCommand.hello.text, outcome: .nothingChanged, foreignLine: foreignLine)
    }

    /// Sends a command once, and waits for its acknowledgement if the peer has acknowledged `Hello`.
    ///
    /// - Parameter command: The command.
    /// - Returns: Whether the peer acknowledged the command. False proves nothing: the published peer acknowledges
    ///   nothing.
    /// - Throws: `linkLost`, `closed`, or `cancelled`. It is then unknown whether the peer received the command.
    @discardableResult
    public mutating func say(_ command: PeerCommand) async throws(SessionError) -> Bool {
        do throws(LinkError) {
            try await forgetHeard()
            try await send(command)
            guard acknowledges else { return false }
            try await send(.hello)
            let deadline = reader.clock.elapsed() + timeout
            while let piece = try await next(by: deadline) {
                if piece == .acknowledgement { return true }
            }
            return false
        } catch {
            throw SessionError(error, at: command.text, outcome: .unknown)
        }
    }

    /// Repeats `Hello` until the peer acknowledges one, or until the time is up: every second if the device may have
    /// been reset; otherwise `Hello` is sent twice, or once to a known peer. A known peer that sends something else
    /// instead is not asked again. Returns the line that revealed another family; nil if there was none.
    private mutating func introduce() async throws(LinkError) -> [UInt8]? {
        let mayHaveReset = reader.link.mayHaveReset
        let patience = mayHaveReset ? Self.startTime : isKnownPeer ? Self.acknowledgementTime : Self.introductionTime
        let pause = mayHaveReset ? .seconds(1) : isKnownPeer ? patience : patience.half
        let end = reader.clock.elapsed() + patience
        var helloCount = 0
        while !acknowledges, reader.clock.elapsed() < end {
            try await send(.hello)
            helloCount += 1
            let deadline = min(end, reader.clock.elapsed() + pause)
            if let foreignLine = try await hearIntroduction(by: deadline) { return foreignLine }
            if isKnownPeer, hasHeard { break }
        }
        if acknowledges, helloCount > 1 { try await waitForSilence() }
        return nil
    }

    /// Reads until an acknowledgement or `deadline`. After a greeting, only the time that a peer takes to acknowledge
    /// is left. Returns the line that reveals another family; nil if there is none.
    private mutating func hearIntroduction(by deadline: Duration) async throws(LinkError) -> [UInt8]? {
        var deadline = deadline
        while let piece = try await next(by: deadline) {
            switch piece {
            case .acknowledgement:
                acknowledges = true
                isKnownPeer = true
                return nil
            case .greeting where !isKnownPeer:
                isKnownPeer = true
                deadline = min(deadline, reader.clock.elapsed() + Self.acknowledgementTime)
            case .text(let text) where ForeignSpeech.isRecognised(text.bytes): return text.bytes
            default: break
            }
        }
        return nil
    }

    private func send(_ command: PeerCommand) async throws(LinkError) {
        let link = reader.link
        try await link.send(command.bytes(keepsPacketBounds: link.keepsPacketBounds))
    }

    /// Returns the next piece; nil if none comes by `deadline`.
    private mutating func next(by deadline: Duration) async throws(LinkError) -> PeerPiece? {
        while true {
            if let piece = pieces.popFirst() { return piece }
            guard let bytes = try await reader.next(by: deadline) else { return nil }
            hasHeard = true
            pieces = decoder.append(bytes)[...]
        }
    }

    /// Drops earlier input: a repeated acknowledgement must not count for the next command.
    private mutating func forgetHeard() async throws(LinkError) {
        while true {
            let bytes = try await reader.link.receiveAvailable()
            if bytes.isEmpty { break }
            _ = decoder.append(bytes)
        }
        pieces = []
    }

    /// Waits until no further acknowledgements of a repeated `Hello` come, so that none is taken for the
    /// acknowledgement of a later `Hello`.
    private mutating func waitForSilence() async throws(LinkError) {
        let end = reader.clock.elapsed() + timeout
        while reader.clock.elapsed() < end, try await next(by: reader.clock.elapsed() + Self.hush) != nil {}
    }
}
