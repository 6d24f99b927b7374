/// Says something to a peer, which need not answer.
///
///     var dialogue = PeerDialogue(over: link, clock: ContinuousClock())
///     try await dialogue.meet()
///     let isAcknowledged = try await dialogue.say(.toggle(true))
///
/// The published peer answers nothing, not even `Hello`. A peer that acknowledges a `Hello` has heard what was sent before it.
public struct PeerDialogue: Sendable {
    /// How long an acknowledgement is waited for where nothing else is said.
    public static let defaultTimeout = Duration.seconds(3)
    /// How long a board that was reset may take to start.
    public static let startTime = Duration.seconds(8)
    /// How long the first acknowledgement of a device that is known to be a peer may take.
    static let acknowledgementTime = Duration.milliseconds(500)
    /// How long a device at the far end of a line has to show that it is of another kind. A pump answers within 250 ms.
    static let introductionTime = Duration.milliseconds(1500)
    /// How long the line is silent before a `Hello` that was repeated is taken for answered once only.
    static let hush = Duration.milliseconds(100)

    private let reader: LinkReader
    private let timeout: Duration
    private var decoder: PeerDecoder
    private var pieces: ArraySlice<PeerPiece> = []
    /// Whether the peer has acknowledged a `Hello`.
    private var acknowledges = false
    /// Whether the far end has said what only a peer says, or offers what only a peer offers.
    private var isKnownPeer: Bool
    /// Whether anything came from the far end.
    public private(set) var hasHeard = false

    /// A dialogue over `link`, which stays the caller's.
    ///
    /// - Parameters:
    ///   - clock: What time-outs are measured by.
    ///   - timeout: How long the acknowledgement of a command is waited for, where the peer acknowledges at all.
    public init(over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout) {
        self.init(LinkReader(link, clock: clock), timeout: timeout)
    }

    init(_ reader: LinkReader, timeout: Duration) {
        self.reader = reader
        self.timeout = timeout
        isKnownPeer = reader.link.keepsPacketBounds
        decoder = PeerDecoder(keepsPacketBounds: reader.link.keepsPacketBounds)
    }

    /// Says `Hello`, and listens for who is there. Where opening the link may have reset the peer, waits until it has started.
    ///
    /// A peer that stays silent counts as met. A device of another kind does not: `ON` would switch a pump on.
    ///
    /// - Throws: `notUnderstood` where a device of another kind answered; `linkLost`, `closed`, `cancelled`.
    public mutating func meet() async throws(SessionError) {
        let foreignLine: [UInt8]?
        do throws(LinkError) {
            // Ends the line that somebody else may have begun.
            if reader.link.mayBeMidLine { try await reader.link.send([.lineFeed]) }
            foreignLine = try await introduce()
        } catch {
            throw SessionError(error, at: PeerCommand.hello.text, outcome: .nothingChanged)
        }
        guard let foreignLine else { return }
        throw SessionError(
            .notUnderstood, command: PeerCommand.hello.text, outcome: .nothingChanged, foreignLine: foreignLine)
    }

    /// Says something, once.
    ///
    /// - Returns: Whether the peer has acknowledged it. False says nothing: the published peer acknowledges nothing.
    /// - Throws: `linkLost`, `closed`, `cancelled`; whether the command was heard is unknown then.
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

    /// Says `Hello` until it is known who is there, or time is over. Returns what a device of another kind said.
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

    /// Listens for an acknowledgement until `deadline`, and no longer than a peer takes for it once it is known for one.
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

    /// The next piece that comes; nil where none has come by `deadline`.
    private mutating func next(by deadline: Duration) async throws(LinkError) -> PeerPiece? {
        while true {
            if let piece = pieces.popFirst() { return piece }
            guard let bytes = try await reader.next(by: deadline) else { return nil }
            hasHeard = true
            pieces = decoder.append(bytes)[...]
        }
    }

    /// Drops what has come by now: an acknowledgement that came twice must not count for what is said next.
    private mutating func forgetHeard() async throws(LinkError) {
        while true {
            let bytes = try await reader.link.receiveAvailable()
            if bytes.isEmpty { break }
            _ = decoder.append(bytes)
        }
        pieces = []
    }

    /// Lets the acknowledgement of a `Hello` that was repeated come, so that it is not taken for that of a later one.
    private mutating func waitForSilence() async throws(LinkError) {
        let end = reader.clock.elapsed() + timeout
        while reader.clock.elapsed() < end, try await next(by: reader.clock.elapsed() + Self.hush) != nil {}
    }
}
