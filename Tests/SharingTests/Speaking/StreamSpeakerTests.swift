import DescriptorIO
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import Sharing

@Suite("Shared streams without a session", .timeLimit(.minutes(5)))
struct StreamSpeakerTests {
    /// Calls `body` with a speaker for a storm sensor, and closes the speaker.
    private func storm(
        keepsPacketBounds: Bool = false, over link: ScriptedLink? = nil,
        _ body: (SpeakerBench<StormRules>) async throws -> Void
    ) async throws {
        let bench = SpeakerBench(
            StormRules(of: .backup, keepsPacketBounds: keepsPacketBounds),
            over: link ?? ScriptedLink(keepsPacketBounds: keepsPacketBounds))
        let result: Result<Void, any Error>
        do { result = .success(try await body(bench)) } catch { result = .failure(error) }
        await bench.close()
        try result.get()
    }

    @Test("Logs are requested one after another", arguments: [false, true])
    func turns(keepsPacketBounds: Bool) async throws {
        try await storm(keepsPacketBounds: keepsPacketBounds) { bench in
            bench.clock.advance(by: StormDownload.hush)
            let command = keepsPacketBounds ? "GET_LOG" : "GET_LOG\n"
            let (first, second) = (bench.ask("GET_LOG"), bench.ask("GET_LOG"))
            #expect(await bench.link.nextSent() == command)
            await bench.link.deliver("LOG Values: 1 2 3 4\n")
            try await first.answer.text(upTo: "LOG Values: 1 2 3 4\n")
            #expect(bench.link.unreadSent == [])
            await bench.pass(.seconds(1))
            #expect(await first.end() == nil)
            #expect(await bench.link.nextSent() == command)
            await bench.link.deliver("LOG Values: 5 6 7 8\n")
            try await second.answer.text(upTo: "LOG Values: 5 6 7 8\n")
            await bench.pass(.seconds(1))
            #expect(await second.end() == nil)
            #expect(first.answer.state.bytes == [])
        }
    }

    @Test("A log is requested only after silence, so that the tail of an earlier log is not part of it")
    func hush() async throws {
        try await storm { bench in
            let asker = bench.ask("GET_LOG")
            await bench.clock.untilSomebodySleeps(until: .milliseconds(100))
            bench.clock.advance(by: .milliseconds(50))
            await bench.link.deliver("7 8\nLIVE LOG: 9 9 9 9\n")
            #expect(try await bench.speech.line() == "LIVE LOG: 9 9 9 9")
            await bench.pass(.milliseconds(50))
            await bench.clock.untilSomebodySleeps(until: .milliseconds(150))
            #expect(bench.link.unreadSent == [])
            await bench.pass(.milliseconds(50))
            #expect(await bench.link.nextSent() == "GET_LOG\n")
            await bench.link.deliver("LOG Values: 1\n")
            try await asker.answer.text(upTo: "LOG Values: 1\n")
        }
    }

    @Test("A board that was reset gets time to start before the first request")
    func reset() async throws {
        try await storm(over: ScriptedLink(mayHaveReset: true)) { bench in
            let asker = bench.ask("GET_LOG")
            await bench.pass(.seconds(1))
            #expect(await bench.link.nextSent() == "GET_LOG\n")
            await bench.link.deliver("LOG Values: 1\n")
            try await asker.answer.text(upTo: "LOG Values: 1\n")
        }
    }

    @Test("A device that never falls silent gets no request for its log")
    func babble() async throws {
        try await storm { bench in
            let asker = bench.ask("GET_LOG")
            await bench.clock.untilSomebodySleeps(until: .milliseconds(100))
            bench.clock.advance(by: .milliseconds(50))
            // The device sends something every 50 ms, before 100 ms of silence have passed, until the timeout of 3 s.
            for time in stride(from: 50, through: 3050, by: 50) {
                await bench.clock.untilSomebodySleeps(until: .milliseconds(time + 50))
                await bench.link.deliver("1 2 3 4\nLIVE LOG: 1\n")
                try await bench.speech.text(upTo: "LIVE LOG: 1\r\n")
                bench.clock.advance(by: .milliseconds(50))
            }
            let error = await asker.end()
            #expect(error?.code == .notUnderstood)
            #expect(error?.outcome == .notSent)
            #expect(bench.link.unreadSent == [])
        }
    }

    @Test("A request without an answer times out, and the next one is sent")
    func noAnswer() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let (first, second) = (bench.ask("GET_LOG"), bench.ask("GET_LOG"))
            _ = await bench.link.nextSent()
            await bench.link.deliver("GET_LOG\r\n")
            await bench.pass(.seconds(3))
            let error = await first.end()
            #expect(error?.code == .noAnswer)
            #expect(error?.waited == .seconds(3))
            #expect(await bench.link.nextSent() == "GET_LOG\n")
            withExtendedLifetime(second) {}
        }
    }

    @Test("A log ends by its own silence, whatever live rows arrive")
    func liveRows() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let asker = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\n")
            // The 100 ms of silence before the request, and the 1 s that ends the log.
            await bench.clock.untilSomebodySleeps(until: .milliseconds(1100))
            bench.clock.advance(by: .milliseconds(600))
            await bench.link.deliver("LIVE LOG: 2\n")
            try await bench.speech.text(upTo: "LIVE LOG: 2\r\n")
            await bench.pass(.milliseconds(400))
            #expect(await asker.end() == nil)
            #expect(asker.answer.state.text == "LOG Values: 1\n")
        }
    }

    @Test("Log and live rows keep the device's order")
    func order() async throws {
        let link = ScriptedLink()
        let clock = ManualClock()
        let all = Watched(ReceivedText())
        let rules = StormRules(of: .backup, keepsPacketBounds: false)
        let speaker = StreamSpeaker.begin(over: link, clock: clock, rules) { speech in
            if case .said(let bytes, _) = speech { all.update { $0.bytes += bytes } }
        }
        clock.advance(by: StormDownload.hush)
        let asking = Task(executorPreference: link.executor) {
            let line = ClientLine(Array("GET_LOG".utf8), .change)
            try? await speaker.perform(line, for: Asker { bytes, _ in all.update { $0.bytes += bytes } })
        }
        _ = await link.nextSent()
        var said = "LOG Values: "
        for number in 0..<200 { said += "1 2 3 \(number)\nLIVE LOG: \(number)\r\n" }
        // The chunks of 7 bytes also cut the lines of the log.
        await link.deliver(Array(said.utf8).chunked(by: 7))
        #expect(try await all.text(upTo: "LIVE LOG: 199\r\n") == said)
        await speaker.close()
        await asking.value
    }

    @Test("A line that expects no answer is sent at once, also during a log")
    func passing() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let asker = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\n")
            #expect(await bench.ask("REBOOT").end() == nil)
            #expect(await bench.link.nextSent() == "REBOOT\n")
            try await asker.answer.text(upTo: "LOG Values: 1\n")
        }
    }

    @Test("Reading stops until the requester has taken its log, and closing releases the requester")
    func backPressure() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let (pieces, asked) = AsyncStream.makeStream(of: String.self)
            let asking = Task.immediate(executorPreference: bench.link.executor) { [speaker = bench.speaker] in
                let asker = Asker { bytes, _ in
                    asked.yield(String(decoding: bytes, as: UTF8.self))
                } waitForRoom: {
                    try? await untilCancelled()
                }
                try await speaker.perform(ClientLine(Array("GET_LOG".utf8), .change), for: asker)
            }
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: ")
            var iterator = pieces.makeAsyncIterator()
            #expect(await iterator.next() == "LOG Values: ")
            await bench.link.deliver("1 2 3 4\nLIVE LOG: 1\n")
            await settle()
            #expect(bench.speech.state.bytes == [])
            await bench.close()
            await #expect(throws: SessionError.self) { try await asking.value }
            asked.finish()
            #expect(await iterator.next() == nil)
        }
    }

    @Test("A log is not requested for a client that left while waiting")
    func leftBefore() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let first = bench.ask("GET_LOG")
            let second = bench.ask("GET_LOG") { false }
            let third = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\n")
            try await first.answer.text(upTo: "1\n")
            await bench.pass(.seconds(1))
            let end = await second.end()
            #expect(end?.code == .cancelled && end?.outcome == .notSent)
            #expect(await bench.link.nextSent() == "GET_LOG\n")
            await bench.link.deliver("LOG Values: 2\n")
            try await third.answer.text(upTo: "LOG Values: 2\n")
        }
    }

    @Test("The rest of a log is dropped if its requester has left, and only then the next is requested")
    func leftWithin() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let isThere = Watched(true)
            let first = bench.ask("GET_LOG") { isThere.state }
            let second = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            isThere.update { $0 = false }
            await bench.link.deliver("LOG Values: 1\n")
            #expect(await first.end() == nil)
            await bench.link.deliver("2\n3\nLIVE LOG: 1\n")
            #expect(try await bench.speech.line() == "LIVE LOG: 1")
            #expect(bench.link.unreadSent == [])
            await bench.pass(.seconds(1))
            #expect(await bench.link.nextSent() == "GET_LOG\n")
            await bench.link.deliver("LOG Values: 4\n")
            try await second.answer.text(upTo: "4\n")
            #expect(second.answer.state.text == "")
            #expect(!first.answer.state.text.contains("2"))
        }
    }

    @Test("A log cut off by a restart is reported as such")
    func restart() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let asker = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\nets Jul 29 2019 12:21:46\r\n")
            try await asker.answer.text(upTo: "46\r\n")
            await bench.pass(.seconds(1))
            #expect(await asker.end()?.code == .notUnderstood)
        }
    }

    @Test("A lost link is reported to the requester, to waiting clients and to all others")
    func lost() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            let (first, second) = (bench.ask("GET_LOG"), bench.ask("GET_LOG"))
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\nLI")
            await bench.link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
            #expect(await first.end()?.code == .linkLost)
            #expect(first.answer.state.text == "LOG Values: 1\nLI")
            let error = await second.end()
            #expect(error?.code == .closed)
            #expect(error?.outcome == .notSent)
            let said = try await bench.speech.all("speech")
            #expect(said == "lost: disconnected\n")
            #expect(await bench.ask("GET_LOG").end()?.outcome == .notSent)
            #expect(await bench.ask("FOO").end() != nil)
        }
    }

    @Test("A device that does not confirm its connection after a log counts as lost")
    func outOfReach() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            bench.link.onConfirmation { LinkError(.disconnected, name: "scripted", activity: "confirm") }
            let asker = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\n")
            try await asker.answer.text(upTo: "1\n")
            await bench.pass(.seconds(1))
            #expect(await asker.end()?.code == .linkLost)
        }
    }

    @Test("Bytes that arrive as the silence ends still belong to the log")
    func lastLook() async throws {
        try await storm { bench in
            bench.clock.advance(by: StormDownload.hush)
            bench.link.onConfirmation { [link = bench.link] in
                link.onConfirmation { nil }
                await link.deliver("2\n")
                return nil
            }
            let asker = bench.ask("GET_LOG")
            _ = await bench.link.nextSent()
            await bench.link.deliver("LOG Values: 1\n")
            try await asker.answer.text(upTo: "1\n")
            await bench.pass(.seconds(1))
            try await asker.answer.text(upTo: "2\n")
            await bench.pass(.seconds(1))
            #expect(await asker.end() == nil)
        }
    }

    @Test("Only the first line is preceded by a line end that closes a foreign half line")
    func midLine() async throws {
        try await storm(over: ScriptedLink(mayBeMidLine: true)) { bench in
            #expect(await bench.ask("FOO").end() == nil)
            #expect(await bench.ask("FOO").end() == nil)
            #expect(await bench.link.nextSent(2) == ["\nFOO\n", "FOO\n"])
        }
    }

    @Test("An image goes to its requester, and ends at IMG_END or after 10 s of silence")
    func image() async throws {
        let bench = SpeakerBench(PeerRules(keepsPacketBounds: true), over: ScriptedLink(keepsPacketBounds: true))
        let (first, second) = (bench.ask("get"), bench.ask("GET_IMAGE"))
        #expect(await bench.link.nextSent() == "get")
        await bench.link.deliver(["IMG_BEGIN a.png 3", "Good morning", "QUJD", "IMG_END"].map { Array($0.utf8) })
        #expect(await first.end() == nil)
        #expect(first.answer.state.text == "IMG_BEGIN a.png 3\r\nQUJD\r\nIMG_END\r\n")
        #expect(try await bench.speech.line() == "Good morning")
        #expect(await bench.link.nextSent() == "GET_IMAGE")
        await bench.link.deliver("IMG_BEGIN a.png 3")
        try await second.answer.text(upTo: "3\r\n")
        await bench.pass(.seconds(10))
        #expect(await second.end() == nil)
        await bench.close()
    }
}

extension [UInt8] {
    fileprivate func chunked(by length: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}
