/// Says something to a peer, and makes sure that it was heard.
///
///     var dialogue = PeerDialogue(over: link, clock: ContinuousClock())
///     try await dialogue.meet()
///     try await dialogue.say(.toggle(true))
///
/// The protocol answers nothing but `Hello`. A peer that acknowledges a `Hello` has heard what was sent before it.
public struct PeerDialogue: Sendable {
    /// How long an acknowledgement is waited for where nothing else is said.
    public static let defaultTimeout = Duration.seconds(3)
    /// How long a board that was reset may take to start.
    public static let startTime = Duration.seconds(8)
    /// How long the line is silent before a `Hello` that was repeated is taken for answered once only.
    static let hush = Duration.milliseconds(100)

    private let reader: LinkReader
    private let timeout: Duration
    private var decoder: PeerDecoder
    /// What the peer said last instead of what was waited for.
    private var foreignText: [UInt8]?

    /// A dialogue over `link`, which stays the caller's.
    ///
    /// - Parameter clock: What time-outs are measured by.
    public init(over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout) {
        self.init(LinkReader(link: link, clock: SessionClock(clock)), timeout: timeout)
    }

    init(_ reader: LinkReader, timeout: Duration) {
        self.reader = reader
        self.timeout = timeout
        decoder = PeerDecoder(keepsPacketBounds: reader.link.keepsPacketBounds)
    }

    /// Says `Hello` until the peer acknowledges it: twice, or where opening the link may have reset it until it has started.
    ///
    /// - Throws: `noAnswer`, or `notUnderstood` where something else was said; `linkLost`, `closed`, `cancelled`.
    public mutating func meet() async throws(SessionError) {
        let mayHaveReset = reader.link.mayHaveReset
        let pause = mayHaveReset ? .seconds(1) : timeout.half
        let patience = mayHaveReset ? Self.startTime : timeout
        do throws(LinkError) {
            let end = reader.clock.elapsed() + patience
            var isFirst = true
            // Ends the line that somebody else may have begun.
            if reader.link.mayBeMidLine { try await reader.link.send([.lineFeed]) }
            while reader.clock.elapsed() < end {
                try await send(.hello)
                if try await hearAcknowledgement(within: pause) {
                    if !isFirst { try await waitForSilence(within: patience) }
                    return
                }
                isFirst = false
            }
        } catch {
            throw PeerCommand.hello.failure(error, .nothingChanged)
        }
        throw noAnswer(to: .hello, .nothingChanged, waited: patience)
    }

    /// Says something, once, and waits until the peer has heard it.
    ///
    /// - Throws: As ``meet()``; that the command was heard is unknown then.
    public mutating func say(_ command: PeerCommand) async throws(SessionError) {
        do throws(LinkError) {
            try await send(command)
            try await send(.hello)
            if try await hearAcknowledgement(within: timeout) { return }
        } catch {
            throw command.failure(error, .unknown)
        }
        throw noAnswer(to: command, .unknown, waited: timeout)
    }

    private func send(_ command: PeerCommand) async throws(LinkError) {
        let link = reader.link
        try await link.send(command.bytes(keepsPacketBounds: link.keepsPacketBounds))
    }

    private mutating func hearAcknowledgement(within time: Duration) async throws(LinkError) -> Bool {
        let deadline = reader.clock.elapsed() + time
        while let bytes = try await reader.next(by: deadline) {
            for piece in decoder.append(bytes) {
                switch piece {
                case .acknowledgement: return true
                case .text(let text): foreignText = text.bytes
                default: break
                }
            }
        }
        return false
    }

    /// Lets the acknowledgement of a `Hello` that was repeated come, so that it is not taken for that of a later one.
    private mutating func waitForSilence(within time: Duration) async throws(LinkError) {
        let end = reader.clock.elapsed() + time
        while reader.clock.elapsed() < end, let bytes = try await reader.next(by: reader.clock.elapsed() + Self.hush) {
            _ = decoder.append(bytes)
        }
    }

    private func noAnswer(
        to command: PeerCommand, _ outcome: SessionError.Outcome, waited: Duration
    ) -> SessionError {
        SessionError(
            foreignText == nil ? .noAnswer : .notUnderstood, command: command.text, outcome: outcome,
            foreignLine: foreignText, waited: waited)
    }
}

extension PeerCommand {
    /// The link broke at this command.
    func failure(_ error: LinkError, _ outcome: SessionError.Outcome) -> SessionError {
        let code: SessionError.Code =
            switch error.code {
            case .cancelled: .cancelled
            case .closed: .closed
            default: .linkLost
            }
        return SessionError(code, command: text, outcome: outcome, link: error)
    }
}
