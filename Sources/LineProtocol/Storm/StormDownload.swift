/// Fetches the stored log of a storm sensor, piece by piece: a log of any length takes no more memory than a piece.
///
///     var download = StormDownload(over: link, clock: ContinuousClock())
///     while let text = try await download.next() { file.write(text) }
///
/// Nothing on the wire ends the log: it is over when nothing of it has come for a while from a sensor that is there
/// (``Link/confirmConnection()``). Live rows in between are counted and left out. The link is the download's while it
/// lasts, and open behind it.
///
/// The log is whole only where nothing is thrown and ``gapCount`` is 0.
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

    /// Why there is no whole log.
    public enum Failure: Error, Sendable, Hashable {
        /// No answer, a lost link, or the end of the task.
        case session(SessionError)
        /// The sensor has restarted before the log was over, as the boot ROM of an ESP32 tells.
        case restarted
        /// The log has begun once more before it was over: somebody else has asked for it too.
        case beganAgain
    }

    /// How many times something is missing between two packets, or behind the last one, as far as this can be told: a
    /// sensor whose packets are longer than the connection's loses their ends.
    public var gapCount: Int { joiner.gapCount }
    /// How many line ends were added between rows that came without one, each in a packet.
    public var addedLineEndCount: Int { joiner.addedLineEndCount }
    /// How many bytes of the log were handed out.
    public private(set) var byteCount = 0
    /// Whether the sensor has said that what follows is its log. Without that, what was handed out may be another device's.
    public private(set) var isAnnounced = false
    /// How many live rows came meanwhile.
    public private(set) var liveRowCount = 0

    private enum Phase {
        case notAsked
        case asked
        case arriving
        case over(Failure?)
    }

    private let reader: LinkReader
    private let timeout: Duration
    private let quiet: Duration
    private var decoder: StormDecoder
    private var finder = ESP32ResetFinder()
    private var joiner = StormLogJoiner()
    /// The first bytes of a log that comes in packets, by which a second beginning of it is known.
    private var head: [UInt8] = []
    private static let headLength = 512
    /// How long the prefix of the packet was that is looked at.
    private var prefixLength = 0
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
        reader = LinkReader(link, clock: clock)
        self.timeout = timeout
        self.quiet = quiet
        decoder = StormDecoder(keepsPacketBounds: link.keepsPacketBounds)
    }

    /// The next bytes of the log, as they came; nil once it is over.
    ///
    /// - Throws: `noAnswer` where no log began in time, `notUnderstood` where the device did not fall silent before it was
    ///   asked. `linkLost` and `cancelled`, and what is no ``Failure/session(_:)``: what was handed out before is the
    ///   beginning of the log.
    public mutating func next() async throws(Failure) -> [UInt8]? {
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
            case .logBegins:
                if isSecondBeginning {
                    finish(.beganAgain)
                    pieces = []
                }
                prefixLength = StormDecoder.logPrefixLength
                isAnnounced = true
                noteBeginning()
            case .live: liveRowCount += 1
            case .log(let text):
                noteBeginning()
                let known = take(text)
                if !known.isEmpty { return known }
            }
        }
        guard case .over = phase else { return nil }
        let rest = joiner.finish()
        byteCount += rest.count
        return rest.isEmpty ? nil : rest
    }

    /// What of the log is certain by now.
    private mutating func take(_ text: [UInt8]) -> [UInt8] {
        defer { prefixLength = 0 }
        guard reader.link.keepsPacketBounds else {
            byteCount += text.count
            return text
        }
        if head.count < Self.headLength { head += text.prefix(Self.headLength - head.count) }
        let known = joiner.append(text, packetLength: prefixLength + text.count)
        byteCount += known.count
        return known
    }

    /// Whether the log that begins is the one that has begun before. Each packet may have the prefix: only one that begins
    /// as the first did begins the log again.
    private var isSecondBeginning: Bool {
        guard reader.link.keepsPacketBounds else { return byteCount > 0 }
        guard case .log(let text)? = pieces.first, !head.isEmpty else { return false }
        let length = min(text.count, head.count)
        return text.prefix(length) == head.prefix(length)
    }

    private mutating func noteBeginning() {
        if case .asked = phase { phase = .arriving }
    }

    // MARK: The link

    /// Waits for silence, and asks.
    private mutating func ask() async throws(Failure) {
        let link = reader.link
        let isSilent: Bool
        do throws(LinkError) {
            isSilent = try await waitForSilence()
            if isSilent { try await link.send(Array(Self.command.utf8) + (link.keepsPacketBounds ? [] : [.lineFeed])) }
        } catch {
            throw .session(sessionError(error))
        }
        if !isSilent {
            throw .session(
                SessionError(.notUnderstood, command: Self.command, outcome: .notSent, foreignLine: foreignText))
        }
        joiner.packetCapacity = await link.packetCapacity()
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
                    : .session(
                        SessionError(.noAnswer, command: Self.command, outcome: .nothingChanged, waited: timeout)))
        } catch {
            finish(.session(sessionError(error)))
        }
    }

    /// Returns whether something of the log has come by `deadline`; counts the live rows before it.
    private mutating func findLog(by deadline: Duration) async throws(LinkError) -> Bool {
        while let bytes = try await reader.next(by: deadline) {
            pieces = decode(bytes)[...]
            if pieces.contains(where: \.isOfLog) { return true }
            if case .over = phase { return true }
            liveRowCount += pieces.count
            pieces = []
        }
        return false
    }

    /// The pieces of what arrived, up to where the sensor has restarted.
    private mutating func decode(_ bytes: [UInt8]) -> [StormPiece] {
        // No boot ROM knows of packets.
        if reader.link.keepsPacketBounds { return decoder.append(bytes) }
        var pieces: [StormPiece] = []
        for piece in finder.append(bytes) {
            guard case .bytes(let bytes) = piece else {
                phase = .over(.restarted)
                return pieces + decoder.finish()
            }
            pieces += decoder.append(bytes)
        }
        return pieces
    }

    private mutating func finish(_ error: Failure?) {
        pieces += decoder.append(finder.finish()) + decoder.finish()
        phase = .over(error)
    }

    private func sessionError(_ error: LinkError) -> SessionError {
        SessionError(error, at: Self.command, outcome: .nothingChanged)
    }
}

extension StormPiece {
    fileprivate var isOfLog: Bool { if case .live = self { false } else { true } }
}
