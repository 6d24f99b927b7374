import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite struct LEDEndpointTests {
    @Test func `Each endpoint has its own name and characteristic`() {
        #expect(Set(LEDEndpoint.all.map(\.name)).count == LEDEndpoint.all.count)
        #expect(Set(LEDEndpoint.all.map(\.characteristic)).count == LEDEndpoint.all.count)
        #expect(LEDEndpoint(name: "led") == .led)
        #expect(LEDEndpoint(name: "LED") == nil)
    }

    @Test(arguments: [
        (LEDCommand.read(.led), "LED\n"), (.write(.led, .boolean(true)), "LED:1\n"),
        (.write(.led, .boolean(false)), "LED:0\n"),
    ])
    func `A query is the endpoint's name; a write adds a digit for the value`(command: LEDCommand, line: String) {
        #expect(LEDFamily.encode(command) == Array(line.utf8))
    }

    @Test(arguments: ["LED", "LED:", "LED:2", "LED:10", "LED: 1", "led:1", "LEDS:1", "LED:1:0", "", ":1", "FAN:1"])
    func `A line other than an endpoint's name with 0 or 1 is not a value`(line: String) {
        #expect(LEDMessage(line: Array(line.utf8).span) == .unknown(Array(line.utf8)))
    }

    @Test func `A cut line is not a value`() {
        #expect(LEDMessage(line: Array("LED:1".utf8).span) == .value(.led, .boolean(true)))
        #expect(LEDMessage(line: Array("LED:1".utf8).span, ending: .cut) == .unknown(Array("LED:1".utf8)))
    }
}

/// A timeout of 4 s leaves 2 s for the acknowledgement of a write, and 2 s for the query of its value, which is
/// repeated after 1 s.
@Suite(.timeLimit(.minutes(5))) struct LEDSessionTests {
    let clock = ManualClock()
    let link = ScriptedLink()

    @Test func `A query is answered by the board's value`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let value = Task { try await led.read(.led) }
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("boot:0x13\r\nLED:1\r\n")
        #expect(try await value.value == .boolean(true))
        #expect(await led.state.values == [.led: .boolean(true)])
        await led.close()
    }

    @Test func `After a restart of the board, its value is unknown`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        await link.deliver("LED:1\r\nets Jul 29 2019 12:21:46\r\n")
        #expect(await led.state.values == [.led: .boolean(true)])
        await link.deliver("\r\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\r\n")
        #expect(await led.state.values == [:])
        #expect(await led.hasDeviceStarted)
        await led.close()
    }

    @Test func `A write is acknowledged only by its own value and then confirmed by a query`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(false), to: .led) }
        #expect(await link.nextSent() == "LED:0\n")
        await link.deliver("LED:1\r\nLED:0\r\n")
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:0\r\n")
        try await set.value
        #expect(await led.state.values == [.led: .boolean(false)])
        #expect(link.unreadSent == [])
        await led.close()
    }

    @Test func `A toggle sets the opposite of the board's value`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let toggled = Task { try await led.toggle(.led) }
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:1\r\n")
        #expect(await link.nextSent() == "LED:0\n")
        await link.deliver("LED:0\r\n")
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:0\r\n")
        #expect(try await toggled.value == .boolean(false))
        await led.close()
    }

    @Test func `If a board does not acknowledge a write, its value is queried`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(true), to: .led, timeout: .seconds(4)) }
        #expect(await link.nextSent() == "LED:1\n")
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(2))
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:1\r\n")
        try await set.value
        await led.close()
    }

    @Test func `The echo of a write and of its queries does not confirm the write`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(true), to: .led, timeout: .seconds(4)) }
        #expect(await link.nextSent() == "LED:1\n")
        await link.deliver("LED:1\n")
        for deadline in [1, 2] {
            #expect(await link.nextSent() == "LED\n")
            await link.deliver("LED\n")
            await clock.untilSomebodySleeps(until: .seconds(deadline))
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: SessionError.self) { try await set.value }
        #expect(error?.code == .unconfirmed && error?.outcome == .unknown && error?.command == "LED:1")
        await led.close()
    }

    @Test func `An acknowledged write fails with notInEffect if the query returns another value`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(true), to: .led) }
        #expect(await link.nextSent() == "LED:1\n")
        await link.deliver("LED:1\r\n")
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:0\r\n")
        let error = await #expect(throws: SessionError.self) { try await set.value }
        #expect(error?.code == .notInEffect && error?.outcome == .unknown && error?.deviceState == "LED:0")
        await led.close()
    }

    @Test func `A write that the board did not take fails with the board's value`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(true), to: .led, timeout: .seconds(4)) }
        #expect(await link.nextSent() == "LED:1\n")
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(2))
        #expect(await link.nextSent() == "LED\n")
        await link.deliver("LED:0\r\n")
        let error = await #expect(throws: SessionError.self) { try await set.value }
        #expect(error?.code == .noAnswer)
        #expect(error?.outcome == .nothingChanged && error?.deviceState == "LED:0")
        await led.close()
    }

    @Test func `Without any reply the outcome of a write is unknown`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        let set = Task { try await led.write(.boolean(true), to: .led, timeout: .seconds(4)) }
        #expect(await link.nextSent() == "LED:1\n")
        for deadline in [2, 3, 4] {
            await clock.untilSomebodySleeps(until: .seconds(deadline))
            clock.advance(by: .seconds(deadline) - clock.now.offset)
        }
        let error = await #expect(throws: SessionError.self) { try await set.value }
        #expect(error?.code == .noAnswer)
        #expect(error?.command == "LED:1")
        #expect(error?.outcome == .unknown)
        #expect(error?.waited == .seconds(4))
        await led.close()
    }

    @Test func `An unsolicited value is an event`() async throws {
        let led = try await LEDSession.begin(over: link, clock: clock)
        var news = await led.events().makeAsyncIterator()
        await link.deliver("LED:1\r\n")
        guard case .heard(.value(.led, .boolean(true))) = await news.next() else {
            Issue.record("something else arrived")
            return
        }
        #expect(await led.state.values == [.led: .boolean(true)])
        await led.close()
    }
}
