internal import LineProtocol

/// What a check works with: it sends, hears, has things done at the device, and keeps account of all of it.
///
/// It reads replies by docs/protocols.md alone, and not with the decoders of `LineProtocol`: a host and these checks must
/// be able to disagree.
final class Bench {
    /// Longer than a line takes at 9600 baud that a firmware has begun, as one of a debug build behind a reply.
    private static let lineTime = Duration.milliseconds(200)

    let link: any Link
    let options: VerificationOptions
    let stimulus: (any Stimulus)?
    private let clock: SessionClock
    private let reader: LinkReader
    private let isUnasked: @Sendable (String) -> Bool
    /// By how much the stimulus has moved the device's time.
    private var advanced = Duration.zero
    private var lines: HeardLines

    private(set) var steps: [CheckResult.Step] = []
    private(set) var variants: [String] = []
    private(set) var timings = Timings()
    /// Unasked lines that came since the check began.
    private(set) var unasked: [HeardLine] = []
    /// Whether anything was sent but a question, or done at the device.
    private(set) var hasInterfered = false
    /// Whether what the device drives may have been running. Set before anything is sent or done that starts it.
    var mayHaveRun: Bool {
        didSet { if mayHaveRun, !oldValue { onRun() } }
    }
    /// Called before what the device drives may run for the first time.
    private let onRun: @Sendable () -> Void
    /// Called every few seconds with the reason why a device that is to be off at the end may run.
    let tellUnsafe: @Sendable (String) -> Void
    /// The largest number of steps in an account. A firmware that never falls silent must not fill the memory.
    private static let stepLimit = 100_000
    /// What the board said while it started, where opening the link has reset it.
    var bootLines: [HeardLine]?
    /// What the family keeps of the device as it was before the first check.
    var memory: String?
    /// What the device said, and what it was sent, before the first check.
    var opening = Opening()
    /// An image that was asked for, and which checks have judged it.
    var image: (transfer: ImageTransfer, judges: Set<String>)?
    /// The log that was asked for, and which checks have judged it.
    var storedLog: (log: StoredLog, judges: Set<String>)?
    /// The check that is under way.
    private(set) var check = ""
    /// How many test messages were made.
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

    /// The device's time since the beginning: that of the clock, and what the stimulus has let go by.
    var now: Duration { clock.elapsed() + advanced }

    /// Whether each packet of the carrier is a message.
    var keepsPacketBounds: Bool { link.keepsPacketBounds }

    /// Skips the check where packets of the carrier hold no message of so many bytes: it cuts them, and not the device.
    func requirePackets(of count: Int) async throws {
        guard keepsPacketBounds, let capacity = await link.packetCapacity(), capacity < count else { return }
        throw CheckSkip(reason: "packets of \(capacity) bytes have no room for it")
    }

    /// The time of the clock since the beginning.
    var elapsed: Duration { clock.elapsed() }

    /// What happened before the first check.
    struct Opening {
        var steps: [CheckResult.Step] = []
        var lines: [HeardLine] = []
    }

    /// Begins a check: what came before it is not its own.
    func beginCheck(_ id: String) async throws {
        check = id
        (steps, variants, unasked) = ([], [], [])
        try await leaveOutArrived()
    }

    /// Forgets what has come by now.
    func leaveOutArrived() async throws {
        if link.keepsPacketBounds {
            // Two packets must not come as one: each is taken by itself.
            let deadline = elapsed + .milliseconds(300)
            while elapsed < deadline, try await reader.next(by: elapsed) != nil {}
        } else {
            lines.append(try await link.receiveAvailable(), at: now)
            // The rest of a line that has begun would be taken for another.
            let deadline = elapsed + Self.lineTime
            while lines.hasBegun, elapsed < deadline, let bytes = try await reader.next(by: deadline) {
                lines.append(bytes, at: now)
            }
        }
        while lines.next() != nil {}
        _ = lines.takeFragment()
    }

    /// Says which of the forms that the protocol allows this firmware has.
    func note(_ variant: String) { if !variants.contains(variant) { variants.append(variant) } }

    func measure(_ kind: Timings.Kind, _ time: Duration) { timings.add(time, to: kind) }

    // MARK: Sending and hearing

    /// Sends bytes as they are.
    ///
    /// - Parameter isQuestion: Whether they can change nothing, whatever the firmware does with them.
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

    /// Sends a message: a line, or a write where the carrier keeps packet bounds.
    func say(_ text: String, isQuestion: Bool = false) async throws {
        try await say(Array(text.utf8), isQuestion: isQuestion)
    }

    func say(_ message: [UInt8], isQuestion: Bool = false) async throws {
        try await send(message + (link.keepsPacketBounds ? [] : [UInt8(ascii: "\n")]), isQuestion: isQuestion)
    }

    /// Adds what was said earlier to the account of this check, which judges it.
    func recall(_ earlier: [CheckResult.Step]) { steps += earlier }

    /// Has only the first and the last of many lines in the account, behind the first `count` steps.
    func leaveOutSteps(behind count: Int, keeping kept: Int = 3) {
        let rest = steps.count - count
        guard rest > 2 * kept + 1 else { return }
        let cut = (count + kept)..<(steps.count - kept)
        steps.replaceSubrange(cut, with: [.leftOut(lines: cut.count)])
    }

    /// The next line, unasked or not; nil where none ends within `time`.
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

    /// Lets time go by, in which nothing but unasked lines may come.
    func quiet(for time: Duration) async throws {
        let deadline = elapsed + time
        while let line = try await line(by: deadline) {
            if !isUnasked(line.text) { throw CheckFailure(expected: "no further line", got: line.bytes.shown) }
        }
    }

    /// Sends a command and takes its reply: these lines, in this order, and unasked ones between them.
    ///
    /// - Throws: `CheckFailure` where another line comes, or none in time.
    @discardableResult
    func ask(_ command: String, _ expected: LineExpectation...) async throws -> [HeardLine] {
        try await ask(raw: command + "\n", expected)
    }

    /// The same with the command's end, or without any, as it is to be sent.
    @discardableResult
    func ask(raw command: String, _ expected: [LineExpectation], isQuestion: Bool = false) async throws -> [HeardLine] {
        let (start, countBefore) = (now, unasked.count)
        try await send(command, isQuestion: isQuestion)
        let reply = try await hear(expected)
        if let first = reply.first, unasked.count == countBefore {
            measure(.replyLatency, max(first.begin - start, .zero))
        }
        return reply
    }

    /// Takes these lines, in this order, and unasked ones between them.
    ///
    /// - Parameter time: How long each is waited for, whatever comes unasked meanwhile; the timeout where it is nil.
    @discardableResult
    func hear(_ expected: [LineExpectation], within time: Duration? = nil) async throws -> [HeardLine] {
        var heard: [HeardLine] = []
        let names = expected.map(\.name).joined(separator: ", ")
        var deadline = elapsed + (time ?? options.timeout)
        while heard.count < expected.count {
            guard let line = try await line(by: deadline) else {
                let fragment = lines.takeFragment()
                let got = (heard.map(\.bytes.shown) + (fragment.isEmpty ? [] : [fragment.shown + " without an end"]))
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

    // MARK: Hands

    /// Does something at the device.
    func act(_ verb: String, _ arguments: String...) async throws {
        guard let stimulus else { throw CheckSkip(reason: options.reason("needs a stimulus", .stimulus)) }
        hasInterfered = true
        steps.append(.did(([verb] + arguments).joined(separator: " ")))
        try await stimulus.perform(verb, arguments)
    }

    /// What one who stands beside the device sees of it, as `sim ctl` tells: `true`, `12`.
    ///
    /// - Throws: ``CheckSkip`` where nobody tells of that.
    func observe(_ key: String) async throws -> String {
        guard let stimulus else { throw CheckSkip(reason: options.reason("needs a stimulus", .stimulus)) }
        guard let value = try await stimulus.state()[key] else {
            throw CheckSkip(reason: "the stimulus does not tell of '\(key)'")
        }
        return value
    }

    /// The same of what is counted.
    func observeCount(_ key: String) async throws -> Int {
        guard let count = Int(try await observe(key)) else {
            throw CheckSkip(reason: "the stimulus does not count '\(key)'")
        }
        return count
    }

    /// Whether this was done in the check that is under way.
    func hasActed(on beginning: String) -> Bool {
        steps.contains { if case .did(let verb) = $0 { verb.hasPrefix(beginning) } else { false } }
    }

    /// Lets time go by at once for the device.
    func advance(by seconds: Int) async throws {
        try await act("advance", "\(seconds)s")
        advanced += .seconds(seconds)
    }

    /// Takes what has come, whatever it is, until nothing comes for so long.
    ///
    /// - Parameter limit: For how long, of a firmware that is never silent.
    func drain(quiet: Duration = .milliseconds(150), limit: Duration = .seconds(10)) async throws {
        let deadline = elapsed + limit
        while elapsed < deadline, try await line(within: quiet) != nil {}
    }
}

/// Fails the check unless `isSo`.
func require(_ isSo: Bool, _ expected: @autoclosure () -> String, got: @autoclosure () -> String) throws {
    if !isSo { throw CheckFailure(expected: expected(), got: got()) }
}
