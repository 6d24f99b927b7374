internal import LineProtocol

/// The means of a check: sends and receives, acts at the device, and records everything in the transcript.
///
/// Replies are interpreted by docs/protocols.md alone, without the decoders of `LineProtocol`, so that an error in a
/// decoder can't hide an error in a firmware.
final class Bench {
    /// The longest wait for the rest of a line that has begun, such as a debug line after a reply. It is enough for 190
    /// bytes at 9600 baud.
    private static let lineTime = Duration.milliseconds(200)

    let link: any Link
    let options: VerificationOptions
    let stimulus: (any Stimulus)?
    private let clock: SessionClock
    private let reader: LinkReader
    /// Returns whether a line may be unsolicited.
    private let isUnasked: @Sendable (String) -> Bool
    /// The time by which the stimulus has advanced the device's clock.
    private var advanced = Duration.zero
    private var lines: HeardLines

    /// The transcript of the current check.
    private(set) var steps: [CheckResult.Step] = []
    /// The forms that the firmware uses where the protocol allows several, as ``note(_:)`` recorded them in this check.
    private(set) var variants: [String] = []
    private(set) var timings = Timings()
    /// The lines since the check began that may be unsolicited, except the lines that the check expected.
    private(set) var unasked: [HeardLine] = []
    /// Whether anything but queries was sent, or any action was performed at the device.
    private(set) var hasInterfered = false
    /// Whether the part that the device drives may have been running. Set before the bytes or the action that may start
    /// it.
    var mayHaveRun: Bool {
        didSet { if mayHaveRun, !oldValue { onRun() } }
    }
    /// Called when ``mayHaveRun`` becomes true.
    private let onRun: @Sendable () -> Void
    /// Called every few seconds while the device should be off but may run, with the reason.
    let tellUnsafe: @Sendable (String) -> Void
    /// The largest number of steps in a transcript: a firmware that never falls silent must not exhaust the memory.
    private static let stepLimit = 100_000
    /// The lines that a pump's board printed while starting; nil unless opening the link may have reset the board.
    var bootLines: [HeardLine]?
    /// Information that the family keeps about the device: an LED board's initial state, or that a phone sends received
    /// messages back.
    var memory: String?
    /// The lines and steps before the first check, for the checks that judge them.
    var opening = Opening()
    /// The last transfer of an image, and the ids of the checks that have judged this transfer.
    var image: (transfer: ImageTransfer, judges: Set<String>)?
    /// The last log that was requested, and the ids of the checks that have judged this log.
    var storedLog: (log: StoredLog, judges: Set<String>)?
    /// The id of the current check.
    private(set) var check = ""
    /// The number of test messages that were created.
    var messageCount: UInt64 = 0

    init(
        _ link: any Link, clock: SessionClock, options: VerificationOptions, stimulus: (any Stimulus)?,
        framing: Framing, isUnasked: @escaping @Sendable (String) -> Bool,
        mayHaveRun: Bool = false, onRun: @escaping @Sendable () -> Void = {},
        tellUnsafe: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.link, self.clock, self.options, self.stimulus) = (link, clock, options, stimulus)
        (self.isUnasked, self.mayHaveRun, self.onRun, self.tellUnsafe) = (isUnasked, mayHaveRun, onRun, tellUnsafe)
        lines = HeardLines(link.keepsPacketBounds ? .packets : framing)
        reader = LinkReader(link, clock: clock)
    }

    /// The time since the beginning as the device sees it: ``elapsed``, plus the time by which the stimulus has
    /// advanced the device's clock.
    var now: Duration { clock.elapsed() + advanced }

    /// Whether each packet of the carrier is one message.
    var keepsPacketBounds: Bool { link.keepsPacketBounds }

    /// Skips the check if a packet of the carrier holds fewer than `count` bytes: the carrier would cut the message,
    /// not the device.
    func requirePackets(of count: Int) async throws {
        guard keepsPacketBounds, let capacity = await link.packetCapacity(), capacity < count else { return }
        throw CheckSkip(reason: "the message does not fit into a packet of \(capacity) bytes")
    }

    /// The time since the beginning of the verification, by the host's clock.
    var elapsed: Duration { clock.elapsed() }

    /// The events before the first check.
    struct Opening {
        var steps: [CheckResult.Step] = []
        var lines: [HeardLine] = []
    }

    /// Begins a check, and discards everything that arrived earlier.
    func beginCheck(_ id: String) async throws {
        check = id
        (steps, variants, unasked) = ([], [], [])
        try await leaveOutArrived()
    }

    /// Discards all bytes that have arrived so far, including a line that has begun.
    func leaveOutArrived() async throws {
        if link.keepsPacketBounds {
            // Read one packet at a time: `receiveAvailable()` may join two. The limit is for a device that never falls
            // silent.
            let deadline = elapsed + .milliseconds(300)
            while elapsed < deadline, try await reader.next(by: elapsed) != nil {}
        } else {
            lines.append(try await link.receiveAvailable(), at: now)
            // Without this wait, the rest of a line that has begun would later count as a line of its own.
            let deadline = elapsed + Self.lineTime
            while lines.hasBegun, elapsed < deadline, let bytes = try await reader.next(by: deadline) {
                lines.append(bytes, at: now)
            }
        }
        while lines.next() != nil {}
        _ = lines.takeFragment()
    }

    /// Records a form that the firmware uses, for a rule that allows several forms.
    func note(_ variant: String) { if !variants.contains(variant) { variants.append(variant) } }

    func measure(_ kind: Timings.Kind, _ time: Duration) { timings.add(time, to: kind) }

    // MARK: Sending and hearing

    /// Sends bytes unchanged.
    ///
    /// - Parameter isQuestion: Whether the bytes can change nothing, whatever the firmware makes of them.
    func send(_ text: String, isQuestion: Bool = false) async throws {
        try await send(Array(text.utf8), isQuestion: isQuestion)
    }

    func send(_ bytes: [UInt8], isQuestion: Bool = false) async throws {
        if !isQuestion { hasInterfered = true }
        note(.sent(bytes))
        try await link.send(bytes)
    }

    private func note(_ step: CheckResult.Step) {
        if steps.count < Self.stepLimit { return steps.append(step) }
        let count = if case .leftOut(let lines)? = steps.last { lines } else { 1 }
        steps[steps.count - 1] = .leftOut(lines: count + 1)
    }

    /// Sends a message: a line, or one write without a line end if the carrier keeps packet bounds.
    func say(_ text: String, isQuestion: Bool = false) async throws {
        try await say(Array(text.utf8), isQuestion: isQuestion)
    }

    func say(_ message: [UInt8], isQuestion: Bool = false) async throws {
        try await send(message + (link.keepsPacketBounds ? [] : [UInt8(ascii: "\n")]), isQuestion: isQuestion)
    }

    /// Adds steps from before this check to the transcript, because the check judges them.
    func recall(_ earlier: [CheckResult.Step]) { steps += earlier }

    /// Shortens the transcript: of the steps after the first `count`, keeps the first `kept` and the last `kept`, and
    /// leaves out the others.
    func leaveOutSteps(behind count: Int, keeping kept: Int = 3) {
        let rest = steps.count - count
        guard rest > 2 * kept + 1 else { return }
        let cut = (count + kept)..<(steps.count - kept)
        steps.replaceSubrange(cut, with: [.leftOut(lines: cut.count)])
    }

    /// Returns the next line, unsolicited or not; nil if none ends within `time`.
    func line(within time: Duration) async throws -> HeardLine? { try await line(by: elapsed + time) }

    func line(by deadline: Duration) async throws -> HeardLine? {
        while true {
            if let line = lines.next() {
                note(.received(line.bytes))
                if isUnasked(line.text), unasked.count < Self.stepLimit { unasked.append(line) }
                return line
            }
            guard let bytes = try await reader.next(by: deadline) else { return nil }
            lines.append(bytes, at: now)
        }
    }

    /// Reads for `time`, and fails the check if any line but an unsolicited one arrives.
    func quiet(for time: Duration) async throws {
        let deadline = elapsed + time
        while let line = try await line(by: deadline) {
            if !isUnasked(line.text) { throw CheckFailure(expected: "no further line", got: line.bytes.shown) }
        }
    }

    /// Sends a command and reads its reply: the expected lines, in this order. Unsolicited lines may come in between.
    ///
    /// - Throws: `CheckFailure` if another line comes, or a line is late.
    @discardableResult
    func ask(_ command: String, _ expected: LineExpectation...) async throws -> [HeardLine] {
        try await ask(raw: command + "\n", expected)
    }

    /// Sends a command exactly as given, with or without a line end, and reads its reply.
    @discardableResult
    func ask(raw command: String, _ expected: [LineExpectation], isQuestion: Bool = false) async throws -> [HeardLine] {
        let (start, countBefore) = (now, unasked.count)
        try await send(command, isQuestion: isQuestion)
        let reply = try await hear(expected)
        // An unsolicited line may have delayed the reply. The latency of the reply then does not count.
        if let first = reply.first, unasked.count == countBefore {
            measure(.replyLatency, max(first.begin - start, .zero))
        }
        return reply
    }

    /// Reads the expected lines, in this order. Unsolicited lines may come in between.
    ///
    /// - Parameter time: The time limit for each expected line. Unsolicited lines do not extend it. nil means
    ///   ``VerificationOptions/timeout``.
    /// - Throws: `CheckFailure` if another line comes, or a line is late.
    @discardableResult
    func hear(_ expected: [LineExpectation], within time: Duration? = nil) async throws -> [HeardLine] {
        var heard: [HeardLine] = []
        let names = expected.map(\.name).joined(separator: ", ")
        var deadline = elapsed + (time ?? options.timeout)
        while heard.count < expected.count {
            guard let line = try await line(by: deadline) else {
                let fragment = lines.takeFragment()
                let got =
                    (heard.map(\.bytes.shown) + (fragment.isEmpty ? [] : [fragment.shown + " without a line end"]))
                let rest = got.isEmpty ? "no answer in \((time ?? options.timeout).inSeconds) s" : ""
                throw CheckFailure(expected: names, got: got.joined(separator: ", ") + rest)
            }
            if expected[heard.count].fits(line.text) {
                heard.append(line)
                deadline = elapsed + (time ?? options.timeout)
                if isUnasked(line.text) { unasked.removeLast() }
            } else if !isUnasked(line.text) {
                throw CheckFailure(
                    expected: names, got: (heard.map(\.bytes.shown) + [line.bytes.shown]).joined(separator: ", "))
            }
        }
        return heard
    }

    // MARK: Stimulus

    /// Performs an action at the device by the stimulus. Skips the check if there is no stimulus.
    func act(_ verb: String, _ arguments: String...) async throws {
        guard let stimulus else { throw CheckSkip(reason: options.reason("needs a stimulus", .stimulus)) }
        hasInterfered = true
        steps.append(.did(([verb] + arguments).joined(separator: " ")))
        try await stimulus.perform(verb, arguments)
    }

    /// Returns a value that is visible at the device, as `pumpctl sim ctl` writes it: `true`, `12`.
    ///
    /// - Throws: ``CheckSkip`` if there is no stimulus, or if it does not report `key`.
    func observe(_ key: String) async throws -> String {
        guard let stimulus else { throw CheckSkip(reason: options.reason("needs a stimulus", .stimulus)) }
        guard let value = try await stimulus.state()[key] else {
            throw CheckSkip(reason: "the stimulus does not report '\(key)'")
        }
        return value
    }

    /// Returns a count that is visible at the device.
    ///
    /// - Throws: ``CheckSkip`` if there is no stimulus, or if it does not count `key`.
    func observeCount(_ key: String) async throws -> Int {
        guard let count = Int(try await observe(key)) else {
            throw CheckSkip(reason: "the stimulus does not report '\(key)' as a number")
        }
        return count
    }

    /// Whether the current check performed an action that begins with `beginning`.
    func hasActed(on beginning: String) -> Bool {
        steps.contains { if case .did(let verb) = $0 { verb.hasPrefix(beginning) } else { false } }
    }

    /// Advances the device's clock by the stimulus, without waiting. Skips the check if there is no stimulus.
    func advance(by seconds: Int) async throws {
        try await act("advance", "\(seconds)s")
        advanced += .seconds(seconds)
    }

    /// Reads and records lines of any kind until none has come for `quiet`.
    ///
    /// - Parameter limit: The time limit, for a firmware that is never silent.
    func drain(quiet: Duration = .milliseconds(150), limit: Duration = .seconds(10)) async throws {
        let deadline = elapsed + limit
        while elapsed < deadline, try await line(within: quiet) != nil {}
    }
}

/// Fails the check unless `isSo`.
func require(_ isSo: Bool, _ expected: @autoclosure () -> String, got: @autoclosure () -> String) throws {
    if !isSo { throw CheckFailure(expected: expected(), got: got()) }
}
