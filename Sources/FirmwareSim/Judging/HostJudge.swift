/// Watches how a host uses a device, and finds what is not as expected.
///
/// ```swift
/// var judge = HostJudge(settings.expectations(), urgent: ["OFF"])
/// judge.hear(Array("ON\nSTATUS\n".utf8), at: .zero, isAnswering: false)
/// print(judge.verdict(at: .seconds(1)))  // at 0.000 s: one-in-flight: STATUS came before the last reply had ended
/// ```
public struct HostJudge: Sendable {
    /// What a command may have in bytes; of a longer one the beginning is looked at.
    private static let longestCommand = 256

    private let expectations: [HostExpectation]
    /// What may be sent at any moment, in upper case.
    private let urgent: [[UInt8]]
    /// The baud rate of the device, in bits per second; nil for none.
    private let baudRate: Int?
    /// Whether packets are pieces of a stream, in which line ends part commands and lines.
    private let isStream: Bool
    /// How commands are told apart.
    private let framing: CommandFraming
    /// Says what is wrong with a command; see ``SimulatedDevice/objection(to:isPacket:)``.
    private let objection: @Sendable (_ command: [UInt8], _ isPacket: Bool) -> String?
    /// Where commands are JSON objects: what there is of the next one.
    private var object = JSONObjectSplitter()
    private var seen = Verdict()
    /// The indices of what has come to the test.
    private var tested: Set<Int> = []

    private var command: [UInt8] = []
    /// When the command that goes on began, and whether the device was answering another then.
    private var beginning: (time: Duration, isEarly: Bool)?
    private var lastBeginning: Duration?
    private var lastWord: [UInt8] = []
    /// When the host has flushed its input, or was seen to close its port.
    private var flushedAt: Duration?
    /// Whether the reply that goes on was flushed: each is one finding.
    private var hasFlushed = false
    /// Whether a whole command has come that the device is yet to answer: it has not been quiet since.
    private(set) var awaitsReply = false
    private var said: [UInt8] = []
    /// The line before that, and its end.
    private var saidBefore: [UInt8] = []
    /// The commands that have come since the line began that the device says: a host need not wait for its end.
    private var early: [[UInt8]] = []
    /// What the host has to react to, or to say again: what is expected, and since when.
    private var waiting: [(index: Int, since: Duration)] = []
    /// What the host must not send now.
    private var restrained: Set<Int> = []

    /// - Parameters:
    ///   - urgent: The commands that may be sent at any moment.
    ///   - lineRate: What the device's line is paced to.
    ///   - isStream: Whether packets over BLE are pieces of a stream; see ``SimulatedDevice/isStream``.
    ///   - framing: How commands are told apart.
    ///   - objection: Says what is wrong with a command; see ``SimulatedDevice/objection(to:isPacket:)``.
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

    /// Whether the baud rate of the host matters.
    public var heedsBaudRate: Bool { expectations.contains { $0.rule.kind == .baudRate } }

    /// Whether it matters that the host flushes its input.
    public var heedsFlushes: Bool { expectations.contains { $0.rule.kind == .noFlush } }

    private func indices(of kind: HostRule.Kind) -> [Int] {
        expectations.indices.filter { expectations[$0].rule.kind == kind }
    }

    // MARK: What happens

    /// The host has sent something.
    ///
    /// - Parameters:
    ///   - isAnswering: Whether the device has something left to do or to say. Where no command came before, that is unasked,
    ///     and no reply to wait for.
    ///   - isPacket: Whether the bytes are a write over BLE, which is one command unless packets are pieces of a stream.
    ///   - hostRate: The baud rate that the host has set; nil where that is not known.
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

    /// Objects go over packets and lines alike; line ends and spaces between them are nothing.
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
                // What came before the object belongs to none.
                endCommand()
                beginning = (time, awaitsReply)
            }
        }
        command = Array(command.prefix(Self.longestCommand))
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private mutating func judge(hostRate: Int?, at time: Duration) {
        guard let hostRate else { return }
        for index in indices(of: .baudRate) {
            tested.insert(index)
            guard let baudRate, hostRate != baudRate else { continue }
            seen.add(expectations[index], at: time, "sent at \(hostRate) baud; the device has \(baudRate)")
        }
    }

    /// - Parameter packet: The whole write over BLE that the command is; nil where it is a line.
    private mutating func endCommand(_ packet: [UInt8]? = nil) {
        defer { (command, beginning) = ([], nil) }
        // A write may end with line ends, which are no part of its command.
        while let last = command.last, Self.isLineEnd(last) { command.removeLast() }
        guard let beginning, !command.isEmpty else { return }
        seen.note(.heard(packet ?? command))
        let word = Array(String(decoding: command, as: UTF8.self).uppercased().utf8)
        judge(packet ?? command, isPacket: packet != nil, at: beginning.time)
        judgeRestraint(word, at: beginning.time)
        if !urgent.contains(word) { judgeMoment(of: beginning) }
        // A host that repeats OFF can't tell which of them a reply answers: after the first reply it may go on.
        let isRepeated = urgent.contains(word) && word == lastWord
        (lastBeginning, lastWord) = (beginning.time, word)
        (awaitsReply, hasFlushed) = (!isRepeated, false)
        if !said.isEmpty { early.append(word) }
        for wait in waiting where isReaction(word, to: wait.index) { tested.insert(wait.index) }
        waiting = waiting.filter { !isReaction(word, to: $0.index) }
        for index in indices(of: .repeats) where isReaction(word, to: index) { waiting.append((index, beginning.time)) }
    }

    private mutating func judge(_ command: [UInt8], isPacket: Bool, at time: Duration) {
        for index in indices(of: .commands) {
            tested.insert(index)
            guard let detail = objection(command, isPacket) else { continue }
            seen.add(expectations[index], at: time, "\(Self.shown(command)) \(detail)")
        }
    }

    private mutating func judgeRestraint(_ word: [UInt8], at time: Duration) {
        if urgent.contains(word) { restrained = [] }
        for index in indices(of: .refrains) where restrained.contains(index) && isReaction(word, to: index) {
            seen.add(expectations[index], at: time, "\(Self.shown(word)) was sent anyway")
        }
    }

    /// A command as a finding tells it, in one line.
    private static func shown(_ command: [UInt8]) -> String {
        String(decoding: command.prefix(80).map { isLineEnd($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
            + (command.count > 80 ? "…" : "")
    }

    /// Whether a command is what a rule wants to follow its line.
    private func isReaction(_ word: [UInt8], to index: Int) -> Bool {
        expectations[index].command.map { word.starts(with: $0) } ?? true
    }

    private mutating func judgeMoment(of beginning: (time: Duration, isEarly: Bool)) {
        let name = Self.shown(command)
        // The first command has none before it that it could come too early after.
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
                expectations[index], at: beginning.time, "\(name) came \(Verdict.seconds(pause)) after the last command"
            )
        }
    }

    /// The device has said something.
    public mutating func say(_ bytes: [UInt8], at time: Duration, isPacket: Bool = false) {
        noteDelays(until: time)
        noteFlush()
        for byte in bytes {
            if Self.isLineEnd(byte) { endLine(at: time) } else { said.append(byte) }
        }
        if isPacket, !isStream { endLine(at: time) }
        said = Array(said.prefix(Self.longestCommand))
    }

    private mutating func endLine(at time: Duration) {
        if !said.isEmpty { seen.note(.said(said)) }
        for index in expectations.indices where expectations[index].lines.contains(where: isSaid) {
            switch expectations[index].rule.kind {
            case .reaction:
                tested.insert(index)
                if !early.contains(where: { isReaction($0, to: index) }) { waiting.append((index, time)) }
            case .repeats:
                // A host that has learnt by another line that it was heard need not repeat anything.
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

    /// Whether the line that ends begins so, or the two that end with it.
    private func isSaid(_ beginning: [UInt8]) -> Bool {
        said.starts(with: beginning) || (saidBefore + said).starts(with: beginning) && beginning.contains(0x0A)
    }

    /// The device has nothing left to say: whatever was asked is answered, and what it says next is unasked.
    mutating func noteQuiet() { awaitsReply = false }

    /// A step of the scenario could not be done: what the host was to be tested by did not happen.
    mutating func note(_ failure: StepFailure) { seen.add(failure) }

    /// The host has flushed its input, or closes its port, which looks the same until it is known that it has left.
    public mutating func flush(at time: Duration, isAnswering: Bool) {
        if awaitsReply, isAnswering, !hasFlushed { flushedAt = time }
    }

    /// The host has closed its port.
    package mutating func leave() { flushedAt = nil }

    /// One who still does something has flushed, and not left.
    private mutating func noteFlush() {
        guard let time = flushedAt else { return }
        (flushedAt, hasFlushed) = (nil, true)
        for index in indices(of: .noFlush) {
            seen.add(expectations[index], at: time, "the input was flushed in the middle of a reply")
        }
    }

    /// A message that has no end is none. A line without one may be on its way.
    private mutating func noteFragment(at time: Duration) {
        guard framing == .objects, !object.isEmpty || !command.isEmpty else { return }
        for index in indices(of: .commands) {
            tested.insert(index)
            seen.add(expectations[index], at: beginning?.time ?? time, "the last bytes are not a whole message")
        }
    }

    private mutating func noteDelays(until time: Duration) {
        for wait in waiting where time - wait.since > expectations[wait.index].time {
            tested.insert(wait.index)
            seen.add(expectations[wait.index], at: wait.since, "no such command was sent in time")
        }
        waiting.removeAll { time - $0.since > expectations[$0.index].time }
    }

    // MARK: The verdict

    /// What has been seen until the end: what the host has not reacted to by then it never will.
    public func verdict(at time: Duration) -> Verdict {
        var judge = self
        judge.noteDelays(until: time)
        judge.noteFlush()
        judge.noteFragment(at: time)
        for wait in judge.waiting {
            judge.tested.insert(wait.index)
            judge.seen.add(expectations[wait.index], at: wait.since, "no such command was sent before the end")
        }
        // A flush that did not happen was put to the test by any command.
        let hasCommands = lastBeginning != nil
        judge.seen.untested = expectations.indices.filter { index in
            expectations[index].rule.kind == .noFlush ? !hasCommands : !judge.tested.contains(index)
        }.map { expectations[$0].text }
        return judge.seen
    }
}
