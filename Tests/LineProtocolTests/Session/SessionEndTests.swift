import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

/// The link is lost, or the session is closed.
@Suite(.timeLimit(.minutes(5))) struct SessionEndTests {
    @Test(arguments: [PumpCommand.on, .off, .speed(speed(3)), .status, .temperature])
    func `If the link is lost during a command, the state and the outcome of a change are unknown`(
        _ command: PumpCommand
    ) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let attempt = bench.begin(command)
        await bench.goesOut(command.text)
        await bench.link.end(with: SessionBench.gone)
        let isQuery = command == .status || command == .temperature
        #expect(
            await attempt.value
                == .failure(
                    SessionError(
                        .linkLost, command: command.text, outcome: isQuery ? .nothingChanged : .unknown,
                        link: SessionBench.gone)))
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(SessionBench.statusOn), .lost(SessionBench.gone)])
    }

    @Test func `After the loss of the link, waiting commands fail as not sent`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.on)
        await bench.goesOut("ON")
        let waiting = [bench.begin(.speed(speed(3))), bench.begin(.status)]
        await bench.settle()
        await bench.link.end(with: SessionBench.gone)
        _ = await first.value
        for (attempt, command) in zip(waiting, ["SPEED:3", "STATUS"]) {
            #expect(
                await attempt.value
                    == .failure(
                        SessionError(.linkLost, command: command, outcome: .notSent, link: SessionBench.gone)))
        }
        await bench.finish(heard: [.lost(SessionBench.gone)])
    }

    @Test func `A lost link is reported once, and later commands fail at once`() async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        await bench.link.end(with: SessionBench.gone)
        await bench.link.end(with: SessionBench.gone)
        #expect(await bench.session.state.power == .unknown)
        for command in [PumpCommand.on, .off, .status] {
            #expect(
                await bench.begin(command).value
                    == .failure(
                        SessionError(.linkLost, command: command.text, outcome: .notSent, link: SessionBench.gone)))
        }
        #expect(await SessionBench.all(bench.session.events()) == [.lost(SessionBench.gone)], "for who asks later")
        await bench.finish(heard: [.now(SessionBench.statusOn), .lost(SessionBench.gone)])
    }

    @Test func `A reply before the loss of the link counts`() async throws {
        let bench = try await SessionBench(hasPast: false)
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.comesIn("OK", "PUMP:ON")
        await bench.link.end(with: SessionBench.gone)
        #expect(await attempt.value == .success(.on))
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.lost(SessionBench.gone)])
    }

    @Test(arguments: [LinkError.Code.disconnected, .system])
    func `A failed send has an unknown outcome and carries its error`(code: LinkError.Code) async throws {
        let bench = try await SessionBench()
        await bench.comesIn(SessionBench.statusOn)
        let failure = LinkError(code, name: "scripted", activity: "send")
        bench.link.failSends(with: failure)
        #expect(
            await bench.begin(.off).value
                == .failure(SessionError(.linkLost, command: "OFF", outcome: .unknown, link: failure)))
        #expect(await bench.session.state.power == .unknown)
        await bench.finish(heard: [.now(SessionBench.statusOn)])
    }

    @Test func `Closing ends the current and the waiting commands and closes the link`() async throws {
        let bench = try await SessionBench()
        let first = bench.begin(.on)
        await bench.goesOut("ON")
        let second = bench.begin(.speed(speed(3)))
        await bench.settle()
        await bench.session.close()
        #expect(await first.value == .failure(SessionError(.closed, command: "ON", outcome: .unknown)))
        #expect(await second.value == .failure(SessionError(.closed, command: "SPEED:3", outcome: .notSent)))
        #expect(await bench.begin(.status).value.code == .closed)
        #expect(bench.link.closeCount == 1)
        await bench.session.close()
        #expect(bench.link.closeCount == 1)
        await bench.finish()
    }

    @Test func `Closing ends a command that the carrier does not take`() async throws {
        let bench = try await SessionBench()
        bench.link.holdSends()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.session.close()
        #expect(await attempt.value.code == .closed)
        await bench.finish()
    }

    @Test func `Closing the link locally closes the session`() async throws {
        let bench = try await SessionBench()
        let attempt = bench.begin(.on)
        await bench.goesOut("ON")
        await bench.link.end(with: nil)
        #expect(await attempt.value == .failure(SessionError(.closed, command: "ON", outcome: .unknown)))
        #expect(await bench.begin(.off).value == .failure(SessionError(.closed, command: "OFF", outcome: .notSent)))
        await bench.finish()
    }

    @Test func `Closing the session after a loss closes the link`() async throws {
        let bench = try await SessionBench()
        await bench.link.end(with: SessionBench.gone)
        await bench.session.close()
        #expect(bench.link.closeCount == 1)
        #expect(await bench.begin(.off).value.code == .closed)
        await bench.finish(heard: [.lost(SessionBench.gone)])
    }

    @Test func `A session that is not started sends nothing`() async throws {
        let link = ScriptedLink()
        let session = PumpSession(link: link, clock: ManualClock())
        await #expect(throws: SessionError(.closed, command: "ON", outcome: .notSent)) { try await session.turnOn() }
        #expect(link.unreadSent == [])
        await session.close()
    }

    @Test func `A subscriber after closing gets no events`() async throws {
        let bench = try await SessionBench()
        await bench.session.close()
        #expect(await SessionBench.all(bench.session.events()) == [])
    }

    @Test func `Each subscriber gets all events from its subscription on`() async throws {
        let bench = try await SessionBench()
        await bench.comesIn("MANUAL:ON")
        let later = await bench.session.events()
        await bench.comesIn("MANUAL:OFF")
        await bench.finish(heard: [.now("MANUAL:ON"), .now("MANUAL:OFF")])
        #expect(await SessionBench.all(later) == [.now("MANUAL:OFF")])
    }
}

extension Result where Failure == SessionError {
    /// The error's code; nil on success.
    var code: SessionError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
