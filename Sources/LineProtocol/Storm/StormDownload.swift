/// Fetches the stored log of a storm sensor, piece by piece: a log of any length takes no more memory than a piece.
///
///     var download = StormDownload(over: link, clock: ContinuousClock())
///     while let text = try await download.next() { file.write(text) }
///
/// Nothing on the wire ends the log: it is over when nothing of it has come for a while from a sensor that is there
/// (``Link/confirmConnection()``). Live rows in between are counted and left out. The link is the download's while it
/// lasts, and open behind it.
public struct StormDownload: Sendable {
    /// How long a silence ends the log where nothing else is said. A sensor pauses for some tenths of a second at most,
    /// while it reads its flash.
    public static let defaultQuiet = Duration.seconds(1)
    /// How long the beginning of the log is waited for where nothing else is said.
    public static let defaultTimeout = Duration.seconds(3)
    /// How long the line has to be silent before the log is asked for, so that the rest of an earlier one is not taken for
    /// its beginning.
    public static let hush = Duration.milliseconds(100)

    /// The command, as it is written on the wire without its line end.
    public static let command = "GET_LOG"

    /// How many bytes of the log were handed out.
    public private(set) var byteCount = 0
    /// How many live rows came meanwhile.
    public private(set) var liveRowCount = 0

    private enum Phase {
        case notAsked
        case asked
        case arriving
        case over(SessionError?)
    }

    private let reader: LinkReader
    private let timeout: Duration
    private let quiet: Duration
    private var decoder: StormDecoder
    private var pieces: ArraySlice<StormPiece> = []
    private var phase = Phase.notAsked
    /// What was said last by a device that did not fall silent.
    private var foreignText: [UInt8]?

    /// A download that begins with the first ``next()``.
    ///
    /// - Parameters:
    ///   - clock: What time-outs are measured by.
    ///   - timeout: How long the beginning of the log is waited for.
    ///   - quiet: How long a silence ends the log.
    public init(
        over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout,
        quiet: Duration = defaultQuiet
    ) {
        reader = LinkReader(link: link, clock: SessionClock(clock))
        self.timeout = timeout
        self.quiet = quiet
        decoder = StormDecoder(keepsPacketBounds: link.keepsPacketBounds)
    }

    /// The next bytes of the log, as they came; nil once it is over.
    ///
    /// - Throws: `noAnswer` where no log began in time, `notUnderstood` where the device did not fall silent before it was
    ///   asked. `linkLost` and `cancelled`: what was handed out before is the beginning of the log.
    public mutating func next() async throws(SessionError) -> [UInt8]? {
        if case .notAsked = phase { try await ask() }
        while true {
            if let text = takeText() { return text }
            if case .over(let error) = phase {
                if let error { throw error }
                return nil
            }
            await read()
        }
    }

    /// Takes the next text out of the pieces that were made out.
    private mutating func takeText() -> [UInt8]? {
        while let piece = pieces.popFirst() {
            switch piece {
            case .logBegins: noteBeginning()
            case .live: liveRowCount += 1
            case .log(let text):
                noteBeginning()
                byteCount += text.count
                return text
            }
        }
        return nil
    }

    private mutating func noteBeginning() {
        if case .asked = phase { phase = .arriving }
    }

    // MARK: The link

    /// Waits for silence, and asks.
    private mutating func ask() async throws(SessionError) {
        let link = reader.link
        let isSilent: Bool
        do throws(LinkError) {
            isSilent = try await waitForSilence()
            if isSilent { try await link.send(Array(Self.command.utf8) + (link.keepsPacketBounds ? [] : [.lineFeed])) }
        } catch {
            throw sessionError(error)
        }
        if !isSilent {
            throw SessionError(.notUnderstood, command: Self.command, outcome: .notSent, foreignLine: foreignText)
        }
        phase = .asked
    }

    /// Returns whether there was a silence.
    private mutating func waitForSilence() async throws(LinkError) -> Bool {
        // A board that was just reset boots, and says so.
        let silence = reader.link.mayHaveReset ? max(quiet, Self.hush) : Self.hush
        let patience = reader.clock.elapsed() + silence + timeout
        var end = reader.clock.elapsed() + silence
        while reader.clock.elapsed() < patience {
            guard let bytes = try await reader.next(by: end) else {
                if !decoder.isWithinRow {
                    _ = decoder.finish()
                    return true
                }
                end = reader.clock.elapsed() + silence
                continue
            }
            // Live rows never end.
            if decoder.append(bytes).contains(where: \.isOfLog) {
                end = reader.clock.elapsed() + silence
                foreignText = bytes
            }
        }
        return false
    }

    /// Reads what makes out more pieces, or the end.
    private mutating func read() async {
        let hasBegun = if case .arriving = phase { true } else { false }
        // From now on, not from what came last: who hands the log on may be slow.
        let deadline = reader.clock.elapsed() + (hasBegun ? quiet : timeout)
        do throws(LinkError) {
            if try await findLog(by: deadline) { return }
            if hasBegun {
                // A sensor that went out of reach is silent too. What it sent before the answer is there behind it.
                try await reader.link.confirmConnection()
                if try await findLog(by: reader.clock.elapsed()) { return }
            }
            finish(
                hasBegun
                    ? nil
                    : SessionError(.noAnswer, command: Self.command, outcome: .nothingChanged, waited: timeout))
        } catch {
            finish(sessionError(error))
        }
    }

    /// Returns whether something of the log has come by `deadline`; counts the live rows before it.
    private mutating func findLog(by deadline: Duration) async throws(LinkError) -> Bool {
        while let bytes = try await reader.next(by: deadline) {
            pieces = decoder.append(bytes)[...]
            if pieces.contains(where: \.isOfLog) { return true }
            liveRowCount += pieces.count
            pieces = []
        }
        return false
    }

    private mutating func finish(_ error: SessionError?) {
        pieces = decoder.finish()[...]
        phase = .over(error)
    }

    private func sessionError(_ error: LinkError) -> SessionError {
        let code: SessionError.Code =
            switch error.code {
            case .cancelled: .cancelled
            case .closed: .closed
            default: .linkLost
            }
        return SessionError(code, command: Self.command, outcome: .nothingChanged, link: error)
    }
}

extension StormPiece {
    fileprivate var isOfLog: Bool { if case .live = self { false } else { true } }
}
