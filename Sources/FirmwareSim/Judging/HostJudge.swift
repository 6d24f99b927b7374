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
    private var seen = Verdict()
    /// The indices of what has come to the test.
    private var tested: Set<Int> = []

    private var command: [UInt8] = []
    /// When the command that goes on began, and whether the device was answering another then.
    private var beginning: (time: Duration, isEarly: Bool)?
    private var lastBeginning: Duration?
    /// When the host has flushed its input, or was seen to close its port.
    private var flushedAt: Duration?
    /// Whether the reply that goes on was flushed: each is one finding.
    private var hasFlushed = false
    /// Whether a whole command has come that the device is yet to answer: it has not been quiet since.
    private(set) var awaitsReply = false
    private var said: [UInt8] = []
    /// The commands that have come since the line began that the device says: a host need not wait for its end.
    private var early: [[UInt8]] = []
    /// What the host has to react to: what is expected, and since when.
    private var waiting: [(index: Int, since: Duration)] = []

    /// - Parameters:
    ///   - urgent: The commands that may be sent at any moment.
    ///   - lineRate: What the device's line is paced to.
    ///   - isStream: Whether packets over BLE are pieces of a stream; see ``SimulatedDevice/isStream``.
    public init(
        _ expectations: [HostExpectation], urgent: [String] = [], lineRate: LineRate = .unlimited,
        isStream: Bool = false
    ) {
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
        for byte in bytes {
            if beginning == nil, !Self.isLineEnd(byte) { beginning = (time, awaitsReply) }
            if !isWhole, Self.isLineEnd(byte) { endCommand() } else if beginning != nil { command.append(byte) }
        }
        if isWhole { endCommand() }
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

    private mutating func endCommand() {
        defer { (command, beginning) = ([], nil) }
        // A write may end with line ends, which are no part of its command.
        while let last = command.last, Self.isLineEnd(last) { command.removeLast() }
        guard let beginning, !command.isEmpty else { return }
        let word = Array(String(decoding: command, as: UTF8.self).uppercased().utf8)
        if !urgent.contains(word) { judgeMoment(of: beginning) }
        lastBeginning = beginning.time
        (awaitsReply, hasFlushed) = (true, false)
        if !said.isEmpty { early.append(word) }
        waiting = waiting.filter { !isReaction(word, to: $0.index) }
    }

    /// Whether a command is what a rule wants to follow its line.
    private func isReaction(_ word: [UInt8], to index: Int) -> Bool {
        expectations[index].command.map { word.starts(with: $0) } ?? true
    }

    private mutating func judgeMoment(of beginning: (time: Duration, isEarly: Bool)) {
        // A finding is one line.
        let name = String(decoding: command.map { Self.isLineEnd($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        // The first command has none before it that it could come too early after.
        for index in indices(of: .oneInFlight) where lastBeginning != nil {
            tested.insert(index)
            if beginning.isEarly {
                seen.add(expectations[index], at: beginning.time, "\(name) came before the last reply had ended")
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
        for index in indices(of: .reaction) where said.starts(with: expectations[index].line) {
            tested.insert(index)
            if !early.contains(where: { isReaction($0, to: index) }) { waiting.append((index, time)) }
        }
        (said, early) = ([], [])
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

    private mutating func noteDelays(until time: Duration) {
        for wait in waiting where time - wait.since > expectations[wait.index].time {
            seen.add(expectations[wait.index], at: wait.since, "no such command came within the time")
        }
        waiting.removeAll { time - $0.since > expectations[$0.index].time }
    }

    // MARK: The verdict

    /// What has been seen until the end: what the host has not reacted to by then it never will.
    public func verdict(at time: Duration) -> Verdict {
        var judge = self
        judge.noteDelays(until: time)
        judge.noteFlush()
        for wait in judge.waiting {
            judge.seen.add(expectations[wait.index], at: wait.since, "no such command came before the end")
        }
        // A flush that did not happen was put to the test by any command.
        let hasCommands = lastBeginning != nil
        judge.seen.untested = expectations.indices.filter { index in
            expectations[index].rule.kind == .noFlush ? !hasCommands : !tested.contains(index)
        }.map { expectations[$0].text }
        return judge.seen
    }
}
