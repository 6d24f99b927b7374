/// Watches how a host uses a device, and records violations of the expectations of that host.
///
/// ```swift
/// var judge = HostJudge(settings.expectations(), urgent: ["OFF"])
/// judge.hear(Array("ON\nSTATUS\n".utf8), at: .zero, isAnswering: false)
/// print(judge.verdict(at: .seconds(1)))  // at 0.000 s: one-in-flight: STATUS was sent before the last reply had ended
/// ```
public struct HostJudge: Sendable {
    /// The number of bytes that the judge keeps of an unfinished command or line, which bounds the memory. A longer one
    /// may be judged by its beginning only. JSON objects are kept whole, in ``object``.
    private static let longestCommand = 256

    private let expectations: [HostExpectation]
    /// The commands that may be sent at any moment, in upper case.
    private let urgent: [[UInt8]]
    /// The baud rate of the device, in bits per second; nil for none.
    private let baudRate: Int?
    /// Whether packets are pieces of a stream, in which line ends separate commands and lines.
    private let isStream: Bool
    /// The framing of commands.
    private let framing: CommandFraming
    /// Checks a command; see ``SimulatedDevice/objection(to:isPacket:)``.
    private let objection: @Sendable (_ command: [UInt8], _ isPacket: Bool) -> String?
    /// The next command so far, if commands are JSON objects.
    private var object = JSONObjectSplitter()
    /// The findings and the last exchanges so far.
    private var seen = Verdict()
    /// The indices of the expectations that have been tested.
    private var tested: Set<Int> = []

    /// The bytes of the current command so far; if commands are JSON objects, only bytes outside of objects.
    private var command: [UInt8] = []
    /// The time at which the current command began, and whether the device was still answering another command.
    private var beginning: (time: Duration, isEarly: Bool)?
    /// The time at which the last whole command began; nil before the first one.
    private var lastBeginning: Duration?
    /// The last whole command, in upper case.
    private var lastWord: [UInt8] = []
    /// The time at which the host flushed its input; nil if there is no flush to report. A host that closes its port
    /// also flushes, so the flush is reported only if ``leave()`` does not follow.
    private var flushedAt: Duration?
    /// Whether the current reply was flushed. All flushes of one reply are one finding.
    private var hasFlushed = false
    /// Whether a whole command awaits its reply: since the command, the device has not been quiet.
    private(set) var awaitsReply = false
    /// The device's current line so far.
    private var said: [UInt8] = []
    /// The line before ``said``, with an LF in place of its end.
    private var saidBefore: [UInt8] = []
    /// The commands that came since the device began the current line. These commands count as reactions to the line,
    /// because a host need not wait for the end of a line.
    private var early: [[UInt8]] = []
    /// The awaited reactions and repetitions: the index of the expectation, and the time since which the judge waits.
    private var waiting: [(index: Int, since: Duration)] = []
    /// The indices of the expectations that now forbid a command.
    private var restrained: Set<Int> = []

    /// Creates a judge of a host.
    ///
    /// - Parameters:
    ///   - expectations: The rules that the host must keep.
    ///   - urgent: The commands that may be sent at any moment.
    ///   - lineRate: The rate of the device's line.
    ///   - isStream: Whether BLE packets are pieces of a stream; see ``SimulatedDevice/isStream``.
    ///   - framing: The framing of commands.
    ///   - objection: Checks a command; see ``SimulatedDevice/objection(to:isPacket:)``.
    public init(
        _ expectations: [HostExpectation], urgent: [String] = [], lineRate: LineRate = .unlimited,
        isStream: Bool = false, framing: CommandFraming = .lines,
        objection: @escaping @Sendable (_ command: [UInt8], _ isPacket: Bool) -> String? = { _, _ in nil }
    ) {
        (self.framing, self.objection) = (framing, objection)
        self.isStream = isStream
        self.expectations = expectations
        self.urgent = urgent.map { Array($0.uppercased().utf8) }
        baudRate = if case .baud(let rate) = lineRate { rate } else { nil }
    }

    /// Whether only scenario steps that fail can be findings.
    var expectsNothing: Bool { expectations.isEmpty }

    /// Whether the host's baud rate matters.
    public var heedsBaudRate: Bool { expectations.contains { $0.rule.kind == .baudRate } }

    /// Whether flushes of the host's input matter.
    public var heedsFlushes: Bool { expectations.contains { $0.rule.kind == .noFlush } }

    private func indices(of kind: HostRule.Kind) -> [Int] {
        expectations.indices.filter { expectations[$0].rule.kind == kind }
    }

    // MARK: Events

    /// Records bytes from the host.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that reached the device.
    ///   - time: The time since the simulation began.
    ///   - isAnswering: Whether the device has something left to do or to send. Without an earlier command, this output
    ///     is unsolicited, and the host need not wait for it.
    ///   - isPacket: Whether the bytes are a BLE write, which is one command unless packets are pieces of a stream.
    ///   - hostRate: The host's baud rate, in bits per second; nil if unknown.
    public mutating func hear(
        _ bytes: [UInt8], at time: Duration, isAnswering: Bool, isPacket: Bool = false, hostRate: Int? = nil
    ) {
        let isWhole = isPacket && !isStream
        noteDelays(until: time)
        noteFlush()
        judge(hostRate: hostRate, at: time)
        awaitsReply = awaitsReply && isAnswering
        if framing == .objects { return hearObjects(bytes, at: time) }
        for byte in bytes {
            if beginning == nil, !Self.isLineEnd(byte) { beginning = (time, awaitsReply) }
            if !isWhole, Self.isLineEnd(byte) { endCommand() } else if beginning != nil { command.append(byte) }
        }
        if isWhole { endCommand(bytes) }
        command = Array(command.prefix(Self.longestCommand))
    }

    /// Records bytes of JSON objects, which are framed alike in packets and lines. Line ends and spaces between objects
    /// are no part of a command.
    private mutating func hearObjects(_ bytes: [UInt8], at time: Duration) {
        for byte in bytes {
            let isSpace = Self.isLineEnd(byte) || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
            if object.isEmpty, Self.isLineEnd(byte) { endCommand() }
            if object.isEmpty, !isSpace, beginning == nil { beginning = (time, awaitsReply) }
            let ended = object.append(byte)
            if let ended {
                command = ended
                endCommand()
            } else if object.isEmpty, !isSpace {
                command.append(byte)
            } else if !command.isEmpty {
                // The bytes before the object are judged as a command of their own.
                endCommand()
                beginning = (time, awaitsReply)
            }
        }
        command = Array(command.prefix(Self.longestCommand))
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// Judges the baud rate of the host: rule `baud`. Does nothing if the rate is unknown.
    private mutating func judge(hostRate: Int?, at time: Duration) {
        guard let hostRate else { return }
        for index in indices(of: .baudRate) {
            tested.insert(index)
            guard let baudRate, hostRate != baudRate else { continue }
            seen.add(expectations[index], at: time, "sent at \(hostRate) baud; the device has \(baudRate)")
        }
    }

    /// Ends the current command, and judges it.
    ///
    /// - Parameter packet: The whole BLE write that is the command; nil for a line or a JSON object.
    private mutating func endCommand(_ packet: [UInt8]? = nil) {
        defer { (command, beginning) = ([], nil) }
        // A write may end with line ends, which don't count when commands are compared.
        while let last = command.last, Self.isLineEnd(last) { command.removeLast() }
        guard let beginning, !command.isEmpty else { return }
        seen.note(.heard(packet ?? command))
        let word = Array(String(decoding: command, as: UTF8.self).uppercased().utf8)
        judge(packet ?? command, isPacket: packet != nil, at: beginning.time)
        judgeRestraint(word, at: beginning.time)
        if !urgent.contains(word) { judgeMoment(of: beginning) }
        // A host that repeats OFF can't tell which OFF a reply answers, so the repeated OFF awaits no reply.
        let isRepeated = urgent.contains(word) && word == lastWord
        (lastBeginning, lastWord) = (beginning.time, word)
        (awaitsReply, hasFlushed) = (!isRepeated, false)
        if !said.isEmpty { early.append(word) }
        for wait in waiting where isReaction(word, to: wait.index) { tested.insert(wait.index) }
        waiting = waiting.filter { !isReaction(word, to: $0.index) }
        for index in indices(of: .repeats) where isReaction(word, to: index) { waiting.append((index, beginning.time)) }
    }

    /// Judges the form of a command: rule `commands`.
    private mutating func judge(_ command: [UInt8], isPacket: Bool, at time: Duration) {
        for index in indices(of: .commands) {
            tested.insert(index)
            guard let detail = objection(command, isPacket) else { continue }
            seen.add(expectations[index], at: time, "\(Self.shown(command)) \(detail)")
        }
    }

    /// Judges whether a command, in upper case, may be sent after the device's lines: rule `refrains`.
    private mutating func judgeRestraint(_ word: [UInt8], at time: Duration) {
        if urgent.contains(word) { restrained = [] }
        for index in indices(of: .refrains) where restrained.contains(index) && isReaction(word, to: index) {
            seen.add(expectations[index], at: time, "\(Self.shown(word)) was sent anyway")
        }
    }

    /// Returns a command as a finding shows it: in one line, and at most 80 bytes of it.
    private static func shown(_ command: [UInt8]) -> String {
        String(decoding: command.prefix(80).map { isLineEnd($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
            + (command.count > 80 ? "…" : "")
    }

    /// Returns whether a command, in upper case, begins with the one that an expectation names; true if the expectation
    /// names none.
    private func isReaction(_ word: [UInt8], to index: Int) -> Bool {
        expectations[index].command.map { word.starts(with: $0) } ?? true
    }

    /// Judges the time at which the current command began: rules `one-in-flight` and `pacing`.
    private mutating func judgeMoment(of beginning: (time: Duration, isEarly: Bool)) {
        let name = Self.shown(command)
        // The first command follows no other command, so it can't come too early.
        for index in indices(of: .oneInFlight) where lastBeginning != nil {
            tested.insert(index)
            if beginning.isEarly {
                seen.add(expectations[index], at: beginning.time, "\(name) was sent before the last reply had ended")
            }
        }
        guard let last = lastBeginning else { return }
        let pause = beginning.time - last
        for index in indices(of: .pacing) {
            tested.insert(index)
            guard pause < expectations[index].time else { continue }
            seen.add(
                expectations[index], at: beginning.time,
                "\(name) was sent \(Verdict.seconds(pause)) after the last command")
        }
    }

    /// Records bytes from the device.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the device has sent.
    ///   - time: The time since the simulation began.
    ///   - isPacket: Whether the bytes are a BLE notification, which is one line unless packets are pieces of a stream.
    public mutating func say(_ bytes: [UInt8], at time: Duration, isPacket: Bool = false) {
        noteDelays(until: time)
        noteFlush()
        for byte in bytes {
            if Self.isLineEnd(byte) { endLine(at: time) } else { said.append(byte) }
        }
        if isPacket, !isStream { endLine(at: time) }
        said = Array(said.prefix(Self.longestCommand))
    }

    /// Ends the device's current line, on which reactions, repetitions and restraints may depend.
    private mutating func endLine(at time: Duration) {
        if !said.isEmpty { seen.note(.said(said)) }
        for index in expectations.indices where expectations[index].lines.contains(where: isSaid) {
            switch expectations[index].rule.kind {
            case .reaction:
                tested.insert(index)
                if !early.contains(where: { isReaction($0, to: index) }) { waiting.append((index, time)) }
            case .repeats:
                // The rule's first line is the reply to the command: if it comes at once, nothing had to be repeated,
                // and nothing was tested. From another line of the rule, a host can learn that the device has heard the
                // command: not repeating it is then right, and the rule was tested.
                let isAnswer = expectations[index].lines.first.map(said.starts(with:)) ?? true
                if !isAnswer, waiting.contains(where: { $0.index == index }) { tested.insert(index) }
                waiting.removeAll { $0.index == index }
            case .meets: tested.insert(index)
            case .refrains:
                tested.insert(index)
                if !early.contains(where: urgent.contains) { restrained.insert(index) }
            default: break
            }
        }
        if !said.isEmpty { saidBefore = said + [UInt8(ascii: "\n")] }
        (said, early) = ([], [])
    }

    /// Returns whether the line that ends has this beginning, or, if the beginning contains a line end, the last two
    /// lines.
    private func isSaid(_ beginning: [UInt8]) -> Bool {
        said.starts(with: beginning) || (saidBefore + said).starts(with: beginning) && beginning.contains(0x0A)
    }

    /// Records that the device has answered every command. Further output is unsolicited.
    mutating func noteQuiet() { awaitsReply = false }

    /// Records that a scenario step failed, and so did not test the host.
    mutating func note(_ failure: StepFailure) { seen.add(failure) }

    /// Records that the host has flushed its input. Closing the port looks the same until `leave()` is called.
    ///
    /// - Parameters:
    ///   - time: The time since the simulation began.
    ///   - isAnswering: Whether the device has something left to do or to send. A flush outside a reply is no finding.
    public mutating func flush(at time: Duration, isAnswering: Bool) {
        if awaitsReply, isAnswering, !hasFlushed { flushedAt = time }
    }

    /// Records that the host has closed its port. A flush just before was a part of closing, and is no finding.
    package mutating func leave() { flushedAt = nil }

    /// Reports a flush that ``leave()`` has not followed.
    private mutating func noteFlush() {
        guard let time = flushedAt else { return }
        (flushedAt, hasFlushed) = (nil, true)
        for index in indices(of: .noFlush) {
            seen.add(expectations[index], at: time, "the input was flushed in the middle of a reply")
        }
    }

    /// Reports an unfinished message. An unfinished line is not reported, because the rest may be on its way.
    private mutating func noteFragment(at time: Duration) {
        guard framing == .objects, !object.isEmpty || !command.isEmpty else { return }
        for index in indices(of: .commands) {
            tested.insert(index)
            seen.add(expectations[index], at: beginning?.time ?? time, "the last bytes are not a whole message")
        }
    }

    /// Reports the awaited commands whose time limit has passed.
    private mutating func noteDelays(until time: Duration) {
        for wait in waiting where time - wait.since > expectations[wait.index].time {
            tested.insert(wait.index)
            seen.add(expectations[wait.index], at: wait.since, "no such command was sent in time")
        }
        waiting.removeAll { time - $0.since > expectations[$0.index].time }
    }

    // MARK: The verdict

    /// Returns the verdict if the simulation ends now: a reaction that is still missing is a finding.
    public func verdict(at time: Duration) -> Verdict {
        var judge = self
        judge.noteDelays(until: time)
        judge.noteFlush()
        judge.noteFragment(at: time)
        for wait in judge.waiting {
            judge.tested.insert(wait.index)
            judge.seen.add(expectations[wait.index], at: wait.since, "no such command was sent before the end")
        }
        // Any command tests `no-flush`, which is met if no flush happened.
        let hasCommands = lastBeginning != nil
        judge.seen.untested = expectations.indices.filter { index in
            expectations[index].rule.kind == .noFlush ? !hasCommands : !judge.tested.contains(index)
        }.map { expectations[$0].text }
        return judge.seen
    }
}
