import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// A command, the line that is sent for it, the lines of the reply, and the parsed reply.
struct PumpDialogue: Sendable, CustomTestStringConvertible {
    let command: PumpCommand
    let out: String
    let lines: [String]
    let reply: PumpReply
    /// Whether the session queries the state after the reply lines, before the command succeeds.
    var isConfirmed = false

    var testDescription: String { out }

    static let all = [
        PumpDialogue(command: .on, out: "ON", lines: ["OK", "PUMP:ON"], reply: .on),
        PumpDialogue(command: .off, out: "OFF", lines: ["OK", "PUMP:OFF"], reply: .off, isConfirmed: true),
        PumpDialogue(command: .speed(speed(0)), out: "SPEED:0", lines: ["OK", "SPEED:0"], reply: .speed(speed(0))),
        PumpDialogue(
            command: .speed(speed(255)), out: "SPEED:255", lines: ["OK", "SPEED:255"], reply: .speed(speed(255))),
        PumpDialogue(
            command: .status, out: "STATUS", lines: [SessionBench.statusOn],
            reply: .status(status(SessionBench.statusOn))),
        PumpDialogue(
            command: .temperature, out: "TEMP", lines: ["TEMP:34.5"],
            reply: .temperatures(PumpTemperatures(single: ThermistorReading(celsius: 34.5)))),
        PumpDialogue(
            command: .temperature, out: "TEMP", lines: ["TEMP:{Water:12.0C,Skin:34.5C}"],
            reply: .temperatures(
                PumpTemperatures(water: ThermistorReading(celsius: 12), skin: ThermistorReading(celsius: 34.5)))),
    ]
}

@Suite(.timeLimit(.minutes(5))) struct SessionExchangeTests {
    @Test(arguments: PumpDialogue.all)
    func `A command is sent once, and its lines become the reply`(_ dialogue: PumpDialogue) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(dialogue.command)
        await bench.goesOut(dialogue.out)
        await bench.link.deliver(dialogue.lines.map { $0 + "\r\n" }.joined())
        if dialogue.isConfirmed { await bench.confirmsOff() }
        #expect(await attempt.value == .success(dialogue.reply))
        await bench.finish()
    }

    @Test(arguments: PumpDialogue.all)
    func `NULs around a line are ignored`(_ dialogue: PumpDialogue) async throws {
        let bench = try await SessionBench(hasPast: false)
        for _ in 1...2 {
            let attempt = bench.begin(dialogue.command)
            await bench.goesOut(dialogue.out)
            await bench.link.deliver(dialogue.lines.map { $0 + "\0\r\n\0\0" }.joined())
            if dialogue.isConfirmed { await bench.confirmsOff() }
            #expect(await attempt.value == .success(dialogue.reply))
        }
        await bench.finish()
    }

    @Test func `A NUL after an earlier line does not begin a line`() async throws {
        let bench = try await SessionBench(backlog: ["PUMP:OFF\r\n\0"])
        await bench.comesIn(SessionBench.statusOn)
        #expect(await bench.session.state.power == .on)
        await bench.finish(heard: [.before("PUMP:OFF"), .now(SessionBench.statusOn)])
    }

    @Test func `NULs alone do not count as a reply`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.link.deliver("\0\0\r\n\0")
        bench.clock.advance(by: .seconds(3))
        #expect(
            await attempt.value
                == .failure(SessionError(.noAnswer, command: "ON", outcome: .unknown, waited: .seconds(3))))
        await bench.finish()
    }

    @Test(arguments: PumpDialogue.all)
    func `A reply can be split anywhere`(_ dialogue: PumpDialogue) async throws {
        let bytes = Array(dialogue.lines.map { $0 + "\r\n" }.joined().utf8)
        for cut in 1..<bytes.count {
            let bench = try await SessionBench(hasPast: false)
            let attempt = bench.begin(dialogue.command)
            await bench.goesOut(dialogue.out)
            await bench.link.deliver([Array(bytes[..<cut])])
            await bench.link.deliver([Array(bytes[cut...])])
            if dialogue.isConfirmed { await bench.confirmsOff() }
            #expect(await attempt.value == .success(dialogue.reply), "cut at \(cut)")
            await bench.finish()
        }
    }

    @Test(arguments: PumpDialogue.all, ["\n", "\r", "\r\n"])
    func `A reply may come byte by byte and with any line end`(_ dialogue: PumpDialogue, ending: String) async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(dialogue.command)
        await bench.goesOut(dialogue.out)
        await bench.link.deliver(dialogue.lines.map { $0 + ending }.joined().utf8.map { [$0] })
        if dialogue.isConfirmed { await bench.confirmsOff() }
        #expect(await attempt.value == .success(dialogue.reply))
        await bench.finish()
    }

    @Test(arguments: PumpDialogue.all.filter { $0.command != .off })
    func `A reply that arrives before the send returns counts`(_ dialogue: PumpDialogue) async throws {
        let bench = try await SessionBench { _ in dialogue.lines.map { $0 + "\r\n" }.joined() }
        #expect(try await bench.session.perform(dialogue.command) == dialogue.reply)
        await bench.goesOut(dialogue.out)
        await bench.finish()
    }

    @Test func `A reply during the send counts once the carrier has taken the command`()
        async throws
    {
        let bench = try await SessionBench(hasPast: false)
        bench.link.holdSends()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        await bench.settle()
        bench.link.releaseSends()
        #expect(await attempt.value == .success(.on))
        #expect(await bench.session.state.power == .on)
        await bench.finish()
    }

    @Test func `A command that the carrier never takes is not answered by another host's reply`() async throws {
        let bench = try await SessionBench(hasPast: false)
        bench.link.holdSends()
        let attempt = bench.begin(.speed(speed(9)))
        await bench.goesOut("SPEED:9")
        await bench.comesIn("OK", "SPEED:9")
        bench.clock.advance(by: .seconds(3))
        #expect(
            await attempt.value
                == .failure(SessionError(.noAnswer, command: "SPEED:9", outcome: .unknown, waited: .seconds(3))))
        #expect(bench.link.heldSendCount == 0, "it must not go out much later")
        await bench.finish()
    }

    @Test func `A command that the carrier has not taken is not refused by another host's error`() async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("ERROR:UNKNOWN_COMMAND")
        for _ in 0..<20 { await bench.settle() }
        #expect(bench.link.unreadSent == [], "no question goes out before the command")
        bench.link.releaseSends()
        await bench.goesOut("TEMP")
        await bench.comesIn("OK", "PUMP:ON", "TEMP:34.5")
        #expect(await attempt.value == .success(.on))
        await bench.session.close()
    }

    @Test func `The rest of a line that is too long is not a line of its own`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let long = String(repeating: "X", count: PumpFamily.lineLimit)
        await bench.comesIn(long + "PUMP:ON", SessionBench.statusOff)
        #expect(await bench.session.state.power == .off)
        await bench.finish(heard: [
            .now(.unknown(Array(long.utf8))), .now(.unknown(Array("PUMP:ON".utf8))),
            .now(SessionBench.statusOff),
        ])
    }

    @Test func `Unsolicited lines in one chunk with a reply become events`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("MANUAL:OFF", "OK", "PUMP:ON", SessionBench.statusOn)
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("MANUAL:OFF"), .now(SessionBench.statusOn)])
    }

    @Test(
        arguments: PumpDialogue.all,
        [
            SessionBench.statusError, "MANUAL:ON", "MANUAL:OFF", "ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded",
            "ERROR:OVERHEAT", "Skin temperature too high: ?C", "[POT] 512", "SPEED:17", "?garbage",
        ])
    func `Unsolicited lines before and within a reply do not answer the command`(
        _ dialogue: PumpDialogue, news: String
    ) async throws {
        // Any status line is the reply to STATUS, solicited or not.
        if dialogue.command == .status, news.hasPrefix("STATUS") { return }
        // MANUAL:ON shows that the button has undone OFF, so OFF is sent again.
        if dialogue.command == .off, news == "MANUAL:ON" { return }
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(dialogue.command)
        await bench.goesOut(dialogue.out)
        var expected: [SessionBench.Heard] = []
        for line in dialogue.lines {
            await bench.comesIn(news, line)
            expected.append(.now(news))
        }
        if dialogue.isConfirmed { await bench.confirmsOff() }
        #expect(await attempt.value == .success(dialogue.reply))
        await bench.finish(heard: expected)
    }

    @Test func `PUMP:ON without its OK does not answer ON`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("PUMP:ON", "OK", "PUMP:OFF", "PUMP:ON")
        #expect(await attempt.value == .success(.on))
        await bench.finish(heard: [.now("PUMP:ON"), .now("PUMP:OFF")])
    }

    @Test func `SPEED is answered only by the requested speed`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.speed(speed(200)))
        await bench.goesOut("SPEED:200")
        await bench.comesIn("OK", "SPEED:100", "SPEED:200")
        #expect(await attempt.value == .success(.speed(speed(200))))
        await bench.finish(heard: [.now("SPEED:100")])
    }
}
