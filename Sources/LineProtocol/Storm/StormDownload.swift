/// Downloads the stored log of a storm sensor, piece by piece. A log of any length takes no more memory than a piece.
///
///     var download = StormDownload(over: link, clock: ContinuousClock())
///     while let text = try await download.next() { file.write(text) }
///
/// The protocol has no end marker: the log ends with a silence, if the sensor is still in reach
/// (``Link/confirmConnection()``). Live rows in between are counted and dropped. Nothing else may receive from the link
/// during the download. The caller closes the link.
///
/// The log is complete only if ``next()`` returns nil and has thrown nothing, and ``gapCount`` is 0.
public struct StormDownload: Sendable {
    /// The default length of the silence that ends the log. A sensor pauses for a few tenths of a second at most, while
    /// it reads its flash.
    public static let defaultQuiet = Duration.seconds(1)
    /// The default time limit for the start of the log.
    public static let defaultTimeout = Duration.seconds(3)
    /// The least length of the silence that must precede the request, so that the rest of an earlier log is not taken
    /// for the start of this log.
    public static let hush = Duration.milliseconds(100)

    /// The command as it is written on the wire, without its line end.
    public static let command = "GET_LOG"

    /// The reason why the log is incomplete or missing.
    public enum Failure: Error, Sendable, Hashable {
        /// There was no answer, the device did not fall silent, the link was lost or closed, or the task was cancelled.
        case session(SessionError)
        /// The sensor restarted before the end of the log: the output of an ESP32's boot ROM was received.
        case restarted
        /// The log began again before its end: another program has also requested it.
        case beganAgain
    }

    /// The number of gaps that were detected between packets, or after the last packet. If a sensor's packets are
    /// longer than the connection allows, their ends are lost.
    public var gapCount: Int { joiner.gapCount }
    /// The number of line ends that were added between rows, because each row came in a packet without a line end.
    public var addedLineEndCount: Int { joiner.addedLineEndCount }
    /// The number of bytes of the log that were delivered.
    public private(set) var byteCount = 0
    /// Whether the sensor has announced its log with the prefix `LOG Values: `. If not, the delivered bytes may come
    /// from another kind of device.
    public private(set) var isAnnounced = false
    /// The number of live rows that came after the request.
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
    /// The first bytes of a log that comes in packets, ``headLength`` at most, by which a second beginning of the log
    /// is recognized.
    private var head: [UInt8] = []
    /// The length of the longest value of a BLE characteristic, and so of a packet.
    private static let headLength = 512
    /// The length of the current packet's prefix.
    private var prefixLength = 0
    private var pieces: ArraySlice<StormPiece> = []
    private var phase = Phase.notAsked
    /// The last bytes that broke the silence before the request; nil if none did.
    private var foreignText: [UInt8]?

    /// Creates a download, which begins with the first ``next()``.
    ///
    /// - Parameters:
    ///   - link: The link to the sensor.
    ///   - clock: The clock for time-outs.
    ///   - timeout: The time limit for the start of the log.
    ///   - quiet: The length of the silence that ends the log.
    public init(
        over link: any Link, clock: any Clock<Duration>, timeout: Duration = defaultTimeout,
        quiet: Duration = defaultQuiet
    ) {
        reader = LinkReader(link, clock: clock)
        self.timeout = timeout
        self.quiet = quiet
        decoder = StormDecoder(keepsPacketBounds: link.keepsPacketBounds)
    }

    /// Returns the next bytes of the log; nil at its end. The first call requests the log. The bytes are unchanged,
    /// except for line ends that are added between rows (``addedLineEndCount``) and at gaps.
    ///
    /// - Throws: ``Failure``. The codes of ``Failure/session(_:)`` are `noAnswer` if no log began in time;
    ///   `notUnderstood` if the device did not fall silent before the request; `linkLost`, `closed`, and `cancelled`.
    ///   Bytes that were delivered before the failure are the beginning of the log. A further call throws the failure
    ///   again.
    public mutating func next() async throws(Failure) -> [UInt8]? {
        if case .notAsked = phase {
            do throws(Failure) { try await ask() } catch { phase = .over(error) }
        }
        while true {
            if let text = takeText() { return text }
            if case .over(let error) = phase {
                if let error { throw error }
                return nil
            }
            await read()
        }
    }

    /// Returns the next bytes of the log from the decoded pieces; nil if there are none, or if the joiner still holds
    /// them back.
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

    /// Takes the next text of the log, and returns the bytes of the log that the joiner does not hold back.
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

    /// Whether the prefix that was just received begins the log a second time. Each packet may have the prefix, so only
    /// a packet that begins like the first one counts.
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

    /// Waits for silence, and sends the request.
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

    /// Waits for a silence before the request. Returns false if the device does not fall silent.
    private mutating func waitForSilence() async throws(LinkError) -> Bool {
        // A board that was just reset sends boot messages.
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
            // Live rows may never end, so they do not break the silence.
            if decoder.append(bytes).contains(where: \.isOfLog) {
                end = reader.clock.elapsed() + silence
                foreignText = bytes
            }
        }
        return false
    }

    /// Reads until there are further pieces, or the log ends.
    private mutating func read() async {
        let hasBegun = if case .arriving = phase { true } else { false }
        // The time counts from now, not from the last arrival: the caller may be slow to take the log.
        let deadline = reader.clock.elapsed() + (hasBegun ? quiet : timeout)
        do throws(LinkError) {
            if try await findLog(by: deadline) { return }
            if hasBegun {
                // A sensor that is out of reach is silent, too. If the connection is confirmed, everything that the
                // sensor sent before has arrived.
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

    /// Reads until a part of the log comes, or the sensor restarts. Returns false if neither happens by `deadline`.
    /// Counts the live rows that come before.
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

    /// Decodes received bytes up to a restart of the sensor.
    private mutating func decode(_ bytes: [UInt8]) -> [StormPiece] {
        // A boot ROM writes to the serial line only, and never sends packets.
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
