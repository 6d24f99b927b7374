import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// A running session with a pump that is played by the test: the test expects the session's lines, and delivers the
/// pump's.
///
/// ``finish(heard:sourceLocation:)`` fails on every line or event that the test did not name.
struct SessionBench {
    typealias Attempt = Task<Result<PumpReply, SessionError>, Never>

    /// A comparable event.
    enum Heard: Equatable {
        case now(PumpMessage)
        case before(PumpMessage)
        case lost(LinkError)

        /// The pump sent `line` during the session.
        static func now(_ line: String) -> Heard { .now(message(line)) }
        /// The pump had sent `line` before the session began.
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

    /// Whether the session writes a line end before `line`, which ends another program's half line.
    private static func isPreceded(_ line: String) -> Bool {
        line == "ON" || line == "OFF" || line.hasPrefix("SPEED:")
    }

    /// Expects the query after an error that may refuse a change, and replies. Since no reply to the change came
    /// before, the error refuses the change.
    func confirmsRefusal(sourceLocation: SourceLocation = #_sourceLocation) async {
        await goesOut("TEMP", sourceLocation: sourceLocation)
        await comesIn("TEMP:34.5")
    }

    let clock = ManualClock()
    let link: ScriptedLink
    let session: PumpSession
    let events: AsyncStream<SessionEvent<PumpMessage>>

    /// Creates the session and starts it.
    ///
    /// - Parameters:
    ///   - backlog: The input that arrived before the session started.
    ///   - mayBeMidLine: Whether the pump may have received the beginning of a line.
    ///   - hasPast: Whether the session has received no reply yet, so that an error may answer an older line. If false,
    ///     TEMP is sent first and gets its reply.
    ///   - answer: Returns the pump's reply to each write; nil if the test delivers all replies.
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

    /// Begins `command` in its own task. Commands that are begun one after another reach the session in this order.
    ///
    /// - Parameter cancelled: Whether the task is cancelled before it calls the session.
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

    /// Waits until the session has handled everything begun before.
    func settle() async { _ = await session.state }

    /// Waits for the next writes of the session, and checks that they are exactly these lines, one per write. A change
    /// or OFF has a line end before it.
    func goesOut(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) async {
        #expect(
            await link.nextSent(lines.count) == lines.map { (Self.isPreceded($0) ? "\n" : "") + $0 + "\n" },
            sourceLocation: sourceLocation)
    }

    /// Delivers these lines; returns once the session has handled them.
    func comesIn(_ lines: String...) async { await link.deliver(lines.map { $0 + "\r\n" }.joined()) }

    /// Waits until the session sleeps until `deadline`, and advances the clock to it.
    func pass(until deadline: Duration) async {
        await clock.untilSomebodySleeps(until: deadline)
        clock.advance(by: deadline - clock.now.offset)
    }

    /// Lets the time pass for which the session waits after a cancelled command, so that the pump can read it.
    func letRead() async {
        await pass(until: clock.now.offset + PumpFamily.readingTime)
    }

    /// Expects the queries that follow the acknowledgement of OFF, and replies that the pump is off. The
    /// acknowledgement itself proves nothing.
    func confirmsOff(sourceLocation: SourceLocation = #_sourceLocation) async {
        await goesOut("TEMP", sourceLocation: sourceLocation)
        await comesIn("TEMP:34.5")
        await goesOut("STATUS", sourceLocation: sourceLocation)
        await comesIn(Self.statusOff)
    }

    /// Closes the session; checks that nothing else was sent, and that exactly `heard` arrived as events.
    func finish(heard: [Heard] = [], sourceLocation: SourceLocation = #_sourceLocation) async {
        await session.close()
        #expect(link.unreadSent == [], "sent beyond what was asked", sourceLocation: sourceLocation)
        #expect(await Self.all(events) == heard, sourceLocation: sourceLocation)
    }

    /// All events until the end of the stream.
    static func all(_ events: AsyncStream<SessionEvent<PumpMessage>>) async -> [Heard] {
        var heard: [Heard] = []
        for await event in events { heard.append(Heard(event)) }
        return heard
    }
}

/// Parses a line of the pump.
func message(_ line: String) -> PumpMessage { PumpMessage(line: Array(line.utf8).span) }

/// Parses a status line.
func status(_ line: String) -> PumpStatus {
    guard case .status(let status) = message(line) else { return PumpStatus() }
    return status
}

/// A speed from a duty in range.
func speed(_ pwm: UInt8) -> PumpSpeed { PumpSpeed(pwm: Int(pwm)) ?? .initial }
