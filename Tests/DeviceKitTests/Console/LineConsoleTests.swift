import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("The line console", .timeLimit(.minutes(5)))
struct LineConsoleTests {
    /// A family that is not part of this package.
    private static let scale = Family(
        name: "scale", device: "a scale", baudRate: 9600,
        wire: WireRules(
            danger: { $0 == Array("TARE ALL".utf8) ? "it would tare every scale" : nil },
            errorCode: { line, _ in
                let text = line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                return text.hasPrefix("ERR ") ? String(text.dropFirst(4)) : nil
            }))

    private let clock = ManualClock()
    private let link = ScriptedLink()
    private let happenings = Watched<[String]>([])

    /// Creates a console of the scale. The entered line `:quit` ends it.
    private func console(
        isScript: Bool = false, end: String? = nil, failure: String? = nil,
        open: @escaping Reconnector.Opener = { _ in throw CancellationError() }
    ) throws -> LineConsole {
        var options = LineConsole.Options()
        options.isScript = isScript
        options.answers.timeout = .seconds(3)
        options.answers.end = end.flatMap(LinePattern.init)
        options.answers.failure = failure.flatMap(LinePattern.init)
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), link, clock: clock, open: open)
        return LineConsole(with: Self.scale, reconnector, options, clock: clock, executor: link.executor) { line in
            line == Array(":quit".utf8) ? .end : .send
        } tell: { [happenings] happening in
            happenings.update { $0.append(Self.words(happening)) }
        }
    }

    /// An event of the console as text, for ``happened(_:)``.
    private static func words(_ happening: ConsoleHappening) -> String {
        switch happening {
        case .heard(let line): "heard \(line.marked)"
        case .heardBefore(let line): "heard before \(line.marked)"
        case .dangerous(let line, let reason): "dangerous \(line.printable()): \(reason)"
        case .noDevice(let line): "no device for \(line.printable())"
        case .notSent(let line, _): "not sent \(line.printable())"
        case .unanswered(let line): "unanswered \(line.printable())"
        case .lost(_, let pending): "lost, pending \(pending?.printable() ?? "nothing")"
        case .back: "back"
        }
    }

    private func enter(_ lines: String..., in console: LineConsole) {
        for line in lines { console.enter(Array(line.utf8)) }
    }

    /// Waits until the console has reported this event.
    private func happened(_ words: String) async throws {
        _ = try await happenings.wait(for: words) { $0.contains(words) ? true : nil }
    }

    @Test("Input that arrived before a script does not count as a reply")
    func heardBefore() async throws {
        await link.deliver("ERR OLD\r\nWEI")
        let console = try console(isScript: true)
        async let result = console.run(over: link)
        console.append(Array("WEIGH\n".utf8))
        console.end()
        #expect(await link.nextSent() == "WEIGH\n")
        #expect(happenings.state == ["heard before ERR OLD", "heard before WEI (no line end)"])
        await clock.untilSomebodySleeps(until: .seconds(3))
        clock.advance(by: .seconds(3))
        let end = try await result
        #expect(end.deviceError == nil)
        #expect(end.unanswered == Array("WEIGH".utf8))
    }

    @Test("Entered lines are sent, replies are shown, and :quit is handled by the program")
    func talk() async throws {
        let console = try console()
        async let result = console.run(over: link)
        enter("WEIGH", in: console)
        #expect(await link.nextSent() == "WEIGH\n")
        await link.deliver("WEIGHT 12\r\n")
        try await happened("heard WEIGHT 12")
        enter(":quit", "TARE", in: console)
        #expect(try await result == ConsoleResult())
        #expect(link.unreadSent == [])
        #expect(console.unsentLines == [Array("TARE".utf8)])
        #expect(link.closeCount == 1)
    }

    @Test("With a known end of reply, a script continues at once and ends with the last reply")
    func scriptWithEnds() async throws {
        let console = try console(isScript: true, end: "ok|error:*")
        async let result = console.run(over: link)
        console.append(Array("A\n\nB\nC\n".utf8))
        console.end()
        for (line, answer) in [("A", "ok"), ("B", "moving\r\nerror:2"), ("C", "ok")] {
            #expect(await link.nextSent() == "\(line)\n")
            await link.deliver("\(answer)\r\n")
        }
        // The clock does not advance, so a script that waited would hang.
        #expect(try await result == ConsoleResult())
    }

    @Test(
        "A script stops at a line of the failure pattern or a reply without end, and counts the unsent lines",
        arguments: [("error:2", "error:2", nil), ("moving", nil, "B")] as [(String, String?, String?)])
    func scriptThatStops(answer: String, error: String?, unanswered: String?) async throws {
        let console = try console(isScript: true, end: "ok|error:*", failure: "error:*")
        async let result = console.run(over: link)
        console.append(Array("A\nB\nC\nD\n".utf8))
        #expect(await link.nextSent() == "A\n")
        await link.deliver("ok\r\n")
        #expect(await link.nextSent() == "B\n")
        await link.deliver("\(answer)\r\n")
        if unanswered != nil {
            try await happened("heard \(answer)")
            await clock.untilSomebodySleeps(until: .seconds(3))
            clock.advance(by: .seconds(3))
        }
        let end = try await result
        #expect(end.deviceError == error)
        #expect(end.unanswered == unanswered.map { Array($0.utf8) })
        #expect(end.unsentCount == 2)
        #expect(link.unreadSent == [])
    }

    @Test(
        "A pattern matches whole lines, with '*' for any text",
        arguments: [
            ("ok", ["ok"], ["ok ", "OK", "nok", ""]),
            ("ok|error:*", ["ok", "error:", "error:20"], ["error", "no error:2"]),
            ("*", ["", "x"], []), ("<*>", ["<Idle>", "<>"], ["<", ">", "<Idle"]),
            ("a*b*c", ["abc", "a-b-c", "abbcc"], ["ac", "acb", "a-b", "abcd"]), ("a*a", ["aa", "aba"], ["a"]),
        ])
    func patterns(text: String, lines: [String], others: [String]) throws {
        let pattern = try #require(LinePattern(text))
        for line in lines { #expect(pattern.matches(line), "\(line)") }
        for line in others { #expect(!pattern.matches(line), "\(line)") }
    }

    @Test("A pattern with an empty alternative is invalid", arguments: ["", "|", "ok|", "|ok", "a||b"])
    func noPatterns(text: String) { #expect(LinePattern(text) == nil) }

    @Test("NULs around a line are not shown and start no line")
    func nuls() async throws {
        let console = try console()
        async let result = console.run(over: link)
        for weight in [12, 13] {
            enter("WEIGH", in: console)
            #expect(await link.nextSent() == "WEIGH\n")
            await link.deliver("WEIGHT \(weight)\0\r\n\0")
            try await happened("heard WEIGHT \(weight)")
        }
        console.end()
        _ = try await result
        #expect(happenings.state == ["heard WEIGHT 12", "heard WEIGHT 13"])
    }

    @Test("Input that arrives while a cancelled console closes is still shown")
    func interrupted() async throws {
        let console = try console()
        let link = LastWordLink(link, "WEIGHT 12\r\nOVER")
        let running = Task { try await console.run(over: link) }
        enter("WEIGH", in: console)
        #expect(await self.link.nextSent() == "WEIGH\n")
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(happenings.state == ["heard WEIGHT 12", "heard OVER (no line end)"])
    }

    @Test("A line that the family calls dangerous is not sent")
    func danger() async throws {
        let console = try console()
        async let result = console.run(over: link)
        enter("TARE ALL", "TARE", in: console)
        #expect(await link.nextSent() == "TARE\n")
        console.end()
        _ = try await result
        #expect(happenings.state == ["dangerous TARE ALL: it would tare every scale"])
    }

    @Test("A lost device is waited for, and the last line sent to it is reported as pending")
    func loss() async throws {
        let second = ScriptedLink()
        let isBack = Watched(false)
        let console = try console { _ in
            _ = try await isBack.wait(for: "the device") { $0 ? true : nil }
            return second
        }
        async let result = console.run(over: link)
        enter("TARE", in: console)
        #expect(await link.nextSent() == "TARE\n")
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "read"))
        try await happened("lost, pending TARE")
        enter("WEIGH", in: console)
        try await happened("no device for WEIGH")
        isBack.update { $0 = true }
        try await happened("back")
        enter("WEIGH", in: console)
        #expect(await second.nextSent() == "WEIGH\n")
        console.end()
        _ = try await result
        #expect(second.closeCount == 1)
    }

    @Test(
        "A script waits for each reply, reports silence, and takes errors from the family"
    )
    func script() async throws {
        let console = try console(isScript: true)
        async let result = console.run(over: link)
        console.append(Array("WEIGH\nFOO\nTA".utf8))
        #expect(await link.nextSent() == "WEIGH\n")
        await link.deliver("WEIGHT 12\r\n")
        try await happened("heard WEIGHT 12")
        // A reply without a known end is over after 500 ms of silence.
        await clock.untilSomebodySleeps(until: .milliseconds(500))
        #expect(link.unreadSent == [])
        clock.advance(by: .milliseconds(500))
        #expect(await link.nextSent() == "FOO\n")
        await link.deliver("ERR UNKNOWN\r\n")
        try await happened("heard ERR UNKNOWN")
        await clock.untilSomebodySleeps(until: .milliseconds(1000))
        console.append(Array("RE\n".utf8))
        console.end()
        clock.advance(by: .milliseconds(500))
        #expect(await link.nextSent() == "TARE\n")
        await clock.untilSomebodySleeps(until: .milliseconds(4000))
        clock.advance(by: .seconds(3))
        let outcome = try await result
        #expect(happenings.state.last == "unanswered TARE")
        #expect(outcome.deviceError == "UNKNOWN")
        #expect(outcome.unanswered == Array("TARE".utf8))
    }

    @Test("A script ends with a lost link, and the rest is not sent to a restarted device")
    func brokenScript() async throws {
        let console = try console(isScript: true)
        async let result = console.run(over: link)
        console.append(Array("TARE\nWEIGH\n".utf8))
        #expect(await link.nextSent() == "TARE\n")
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "read"))
        do {
            _ = try await result
            Issue.record("it went on")
        } catch let error as ScriptLossError {
            #expect(error.pending == Array("TARE".utf8))
            #expect(error.unsentCount == 1)
            #expect(error.mayFollow)
        }
    }

    @Test("Lines entered after the end are returned as unsent")
    func behindTheEnd() async throws {
        let console = try console()
        enter("WEIGH", in: console)
        console.end()
        enter("TARE", in: console)
        _ = try await console.run(over: link)
        enter("OFF", in: console)
        #expect(await link.nextSent() == "WEIGH\n")
        #expect(link.unreadSent == [])
        #expect(console.unsentLines == [Array("TARE".utf8), Array("OFF".utf8)])
    }

    @Test("A send that fails while the console ends is reported and thrown")
    func failsAtTheEnd() async throws {
        link.failSends(with: LinkError(.disconnected, name: "scripted", activity: "send"))
        let console = try console()
        enter("OFF", in: console)
        console.end()
        await #expect(throws: LinkError.self) { try await console.run(over: link) }
        #expect(happenings.state == ["not sent OFF"])
    }

    @Test("A link that opens after the console has ended is closed")
    func backAtTheEnd() async throws {
        let second = ScriptedLink()
        let isOpening = Watched(false)
        let hasEnded = Watched(false)
        let console = try console { _ in
            isOpening.update { $0 = true }
            // Opening goes on in a task of its own, although the console has ended and cancelled it.
            return await Task {
                _ = try? await hasEnded.wait(for: "the end") { $0 ? true : nil }
                return second
            }.value
        }
        async let result = console.run(over: link)
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "read"))
        _ = try await isOpening.wait(for: "an attempt") { $0 ? true : nil }
        console.end()
        hasEnded.update { $0 = true }
        _ = try await result
        #expect(second.closeCount == 1)
    }
}

/// A link that delivers `words` when it is closed.
private final class LastWordLink: LinkWrapper {
    let link: any Link
    private let words: String
    private let receiver = Watched<(@Sendable (LinkArrival) -> Void)?>(nil)

    init(_ link: any Link, _ words: String) {
        self.link = link
        self.words = words
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        self.receiver.update { $0 = receiver }
        await link.forward(to: receiver)
    }

    func close() async {
        receiver.state?(.bytes(Array(words.utf8)))
        await link.close()
    }
}
