/// Interprets the lines of clients as a pump does. By the pump protocol, a command is a C string of at most 63 bytes in
/// upper or lower case. In a longer line the 64th byte is dropped, and the bytes after it are read as a new command.
extension PumpFamily: RelayedFamily {
    public typealias LineExchange = PumpLineExchange

    /// The longest command in bytes that the firmware's buffer holds.
    static let commandLimit = 63

    public static func request(by line: [UInt8]) -> LineRequest<PumpFamily>? {
        var steps: [PumpLineExchange.Step] = []
        var rest = line[...]
        while rest.count > commandLimit {
            steps.append(.tooLong)
            rest = rest.dropFirst(commandLimit + 1)
        }
        let command = rest.prefix { $0 != 0 }
        if !rest.isEmpty { steps.append(command.isEmpty ? .unknown : Self.step(of: command)) }
        guard let last = steps.last else { return nil }
        // An OFF at the end of an overlong line does not count as a stop: the firmware may lose bytes of such a line.
        let effect = steps.count == 1 ? last.effect : .change
        return LineRequest(effect, PumpLineExchange(steps))
    }

    private static func step(of command: ArraySlice<UInt8>) -> PumpLineExchange.Step {
        let text = command.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
        if text.elementsEqual("STATUS".utf8) { return .command(.status) }
        if text.elementsEqual("TEMP".utf8) { return .command(.temperature) }
        if text.elementsEqual("ON".utf8) { return .command(.on) }
        if text.elementsEqual("OFF".utf8) { return .command(.off) }
        guard text.starts(with: "SPEED:".utf8) else { return .unknown }
        // The firmware refuses an out-of-range value, so the speed that the exchange then expects does not matter.
        let number = PumpNumber.read(text[6...])
        return .command(.speed(PumpSpeed(pwm: Int(number)) ?? .initial))
    }

    public static func isAnswer(_ message: PumpMessage) -> Bool {
        switch message {
        case .ok, .pump, .speed, .temperatures: true
        case .error(let code): !code.isUnsolicited
        case .status, .manual, .text, .unknown: false
        }
    }

    public static var stopAnswer: [String] { ["OK", "PUMP:OFF"] }
}

/// Recognizes the answer of a pump to one line of a client. The firmware may read an overlong line as several commands.
public struct PumpLineExchange: CommandExchange {
    /// A single command that the firmware reads from the line.
    enum Step {
        case command(PumpCommand)
        /// More bytes than the firmware's buffer holds, which the pump answers with `ERROR:CMD_TOO_LONG`.
        case tooLong
        /// A text that is no command, which the pump answers with `ERROR:UNKNOWN_COMMAND`.
        case unknown

        /// The effect of the step. A line that the firmware refuses counts as a change, so that it is sent only once.
        var effect: CommandEffect {
            if case .command(let command) = self { PumpFamily.effect(of: command) } else { .change }
        }
    }

    /// The steps that are not answered completely. The answer to the first is due; ``current`` matches it if the step
    /// is a command.
    private var steps: ArraySlice<Step>
    private var current: PumpExchange?

    init(_ steps: [Step]) {
        self.steps = steps[...]
        begin()
    }

    private mutating func begin() {
        if case .command(let command) = steps.first { current = PumpExchange(command) } else { current = nil }
    }

    public mutating func take(_ message: PumpMessage) -> ExchangeVerdict<Void> {
        let verdict: ExchangeVerdict<Void> =
            switch steps.first {
            case .command: Self.withoutReply(current?.take(message) ?? .unrelated)
            // An answer, not a refusal: the answer to the rest of the line follows.
            case .tooLong: message == .error(.commandTooLong) ? .complete(()) : .unrelated
            case .unknown: Self.refusal(by: message)
            case nil: .unrelated
            }
        guard case .complete = verdict, steps.count > 1 else { return verdict }
        steps.removeFirst()
        begin()
        return .partial
    }

    private static func withoutReply(_ verdict: ExchangeVerdict<PumpReply>) -> ExchangeVerdict<Void> {
        switch verdict {
        case .unrelated: .unrelated
        case .partial: .partial
        case .complete: .complete(())
        case .refused(let code): .refused(code)
        }
    }

    private static func refusal(by message: PumpMessage) -> ExchangeVerdict<Void> {
        guard case .error(let code) = message, !code.isUnsolicited else { return .unrelated }
        return .refused(code.rawValue)
    }
}

extension Session where Family == Relayed<PumpFamily> {
    /// Begins a session over `link`, like `Session.begin(over:clock:waitsUntilReady:observer:)` for any family.
    ///
    /// - Parameters:
    ///   - link: The link, which the session owns from now on.
    ///   - clock: The clock for time-outs.
    ///   - waitsUntilReady: Whether to wait for a board that the opening of the link may have reset.
    ///   - observer: Called with each event on the executor of the link, before later lines are processed. It must not
    ///     block.
    /// - Throws: `linkLost`, or an error of ``Session/waitUntilReady(within:)``. The link is then closed.
    public static func begin(
        over link: any Link, clock: any Clock<Duration>, waitsUntilReady: Bool = true,
        observer: (@Sendable (SessionEvent<Family.Message>) -> Void)? = nil
    ) async throws(SessionError) -> Session {
        try await begun(over: link, clock: clock, waitsUntilReady: waitsUntilReady, observer: observer)
    }

    /// Sends a line and waits for its answer, like `Session.perform(_:timeout:)` for any family.
    ///
    /// - Parameters:
    ///   - line: The line to send.
    ///   - timeout: The time limit for the answer, without the wait for other commands.
    /// - Throws: ``SessionError``.
    public func perform(
        _ line: RelayedLine<PumpFamily>, timeout: Duration = Session.defaultTimeout
    ) async throws(SessionError) -> RelayedAnswer<PumpFamily> {
        try await perform(line, timeout: timeout, isProbe: false)
    }
}
