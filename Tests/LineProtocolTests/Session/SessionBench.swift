import LineProtocol
import TestSupport
import Testing

/// A running session with the pump whose device is the test: this goes out, that comes in.
///
/// ``finish(heard:sourceLocation:)`` fails on whatever was sent or heard beyond what the test named.
struct SessionBench {
    typealias Attempt = Task<Result<PumpReply, SessionError>, Never>

    /// An event, to compare with.
    enum Heard: Equatable {
        case now(PumpMessage)
        case before(PumpMessage)
        case lost(LinkError)

        /// The pump said `line`.
        static func now(_ line: String) -> Heard { .now(message(line)) }
        /// The pump had said `line` before the session began.
        static func before(_ line: String) -> Heard { .before(message(line)) }

        init(_ event: SessionEvent<PumpMessage>) {
            switch event {
            case .heard(let message): self = .now(message)
            case .heardBefore(let message): self = .before(message)
            case .lost(let error): self = .lost(error)
            }
        }
    }

    static let statusOn = "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}"
    static let statusOff = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}"
    static let statusError = "STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:41.0C}"
    static let gone = LinkError(.disconnected, name: "scripted", activity: "receive")

    private static func isPreceded(_ line: String) -> Bool {
        line == "ON" || line == "OFF" || line.hasPrefix("SPEED:")
    }

    /// The pump answers the question behind a change that met an error: it has not carried out the change.
    func confirmsRefusal(sourceLocation: SourceLocation = #_sourceLocation) async {
        await goesOut("TEMP", sourceLocation: sourceLocation)
        await comesIn("TEMP:34.5")
    }

    let clock = ManualClock()
    let link: ScriptedLink
    let session: PumpSession
    let events: AsyncStream<SessionEvent<PumpMessage>>

    /// - Parameter hasPast: Whether nothing has been answered in this session, so that an error may be that of something
    ///   older. Without a past, TEMP was asked and answered.
    init(
        backlog: [String] = [], mayBeMidLine: Bool = false, hasPast: Bool = true, answer: ScriptedLink.Answer? = nil
    ) async throws {
        link = ScriptedLink(backlog: backlog, mayBeMidLine: mayBeMidLine, answer: answer)
        session = PumpSession(link: link, clock: clock)
        events = await session.events()
        try await session.start()
        guard !hasPast else { return }
        let attempt = begin(.temperature)
        await goesOut("TEMP")
        await comesIn("TEMP:34.5")
        _ = await attempt.value
    }

    /// Begins to perform `command`; those begun one behind the other reach the session in this order.
    ///
    /// - Parameter cancelled: Whether the task that does it has been cancelled before.
    func begin(_ command: PumpCommand, timeout: Duration = .seconds(3), cancelled: Bool = false) -> Attempt {
        Task.immediate { [session] in
            if cancelled { withUnsafeCurrentTask { $0?.cancel() } }
            do throws(SessionError) {
                return .success(try await session.perform(command, timeout: timeout))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Waits until the session has taken in what was begun before.
    func settle() async { _ = await session.state }

    /// Waits until exactly these lines were sent next, a change and OFF with the bare line end before it.
    func goesOut(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async {
        #expect(
            await link.nextSent(lines.count) == lines.map { (Self.isPreceded($0) ? "\n" : "") + $0 + "\n" },
            sourceLocation: sourceLocation)
    }

    /// Hands in these lines, and returns once the session has heard them.
    func comesIn(_ lines: String...) async { await link.deliver(lines.map { $0 + "\r\n" }.joined()) }

    /// Lets time go by until `deadline`, which somebody waits for.
    func pass(until deadline: Duration) async {
        await clock.untilSomebodySleeps(until: deadline)
        clock.advance(by: deadline - clock.now.offset)
    }

    /// Lets the time go by that the pump has to read a command which was given up at once.
    func letRead() async {
        await pass(until: clock.now.offset + PumpFamily.readingTime)
    }

    /// The pump answers the question behind an OFF whose acknowledgement proves nothing.
    func confirmsOff(sourceLocation: SourceLocation = #_sourceLocation) async {
        await goesOut("TEMP", sourceLocation: sourceLocation)
        await comesIn("TEMP:34.5")
        await goesOut("STATUS", sourceLocation: sourceLocation)
        await comesIn(Self.statusOff)
    }

    /// Closes the session and checks that nothing else was sent, and that `heard` and nothing else came as events.
    func finish(heard: [Heard] = [], sourceLocation: SourceLocation = #_sourceLocation) async {
        await session.close()
        #expect(link.unreadSent == [], "sent beyond what was asked", sourceLocation: sourceLocation)
        #expect(await Self.all(events) == heard, sourceLocation: sourceLocation)
    }

    /// All events up to the end of the stream.
    static func all(_ events: AsyncStream<SessionEvent<PumpMessage>>) async -> [Heard] {
        var heard: [Heard] = []
        for await event in events { heard.append(Heard(event)) }
        return heard
    }
}

/// What a line of the pump means.
func message(_ line: String) -> PumpMessage { PumpMessage(line: Array(line.utf8).span) }

/// The status that a line gives.
func status(_ line: String) -> PumpStatus {
    guard case .status(let status) = message(line) else { return PumpStatus() }
    return status
}

/// The speed of a duty that is in range.
func speed(_ pwm: UInt8) -> PumpSpeed { PumpSpeed(pwm: Int(pwm)) ?? .initial }
