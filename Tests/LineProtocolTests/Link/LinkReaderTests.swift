import DeviceTestKit
import LineProtocol
import Testing

@Suite(.timeLimit(.minutes(5))) struct LinkReaderTests {
    private let clock = ManualClock()

    @Test(arguments: [false, true]) func `Buffered chunks and packets are read one by one, in order`(
        keepsPacketBounds: Bool
    )
        async throws
    {
        let link = ScriptedLink(backlog: ["one", "two"], keepsPacketBounds: keepsPacketBounds)
        let reader = LinkReader(link, clock: clock)
        #expect(try await reader.next(within: .zero) == Array("one".utf8))
        #expect(try await reader.next(within: .seconds(1)) == Array("two".utf8))
    }

    @Test func `After a timeout reading can go on without loss`() async throws {
        let link = ScriptedLink()
        let reader = LinkReader(link, clock: clock)
        let reading = Task { try await reader.next(within: .seconds(2)) }
        await clock.untilSomebodySleeps(until: .seconds(2))
        clock.advance(by: .seconds(2))
        #expect(try await reading.value == nil)
        await link.deliver("late")
        #expect(try await reader.next(within: .seconds(2)) == Array("late".utf8))
    }

    @Test func `The end of the link and a cancellation are thrown`() async throws {
        let link = ScriptedLink()
        let reader = LinkReader(link, clock: clock)
        let reading = Task { try await reader.next(within: .seconds(2)) }
        await clock.untilSomebodySleeps(until: .seconds(2))
        reading.cancel()
        let cancelled = await #expect(throws: LinkError.self) { try await reading.value }
        #expect(cancelled?.code == .cancelled)
        await link.end(with: nil)
        let closed = await #expect(throws: LinkError.self) { try await reader.next(within: .seconds(2)) }
        #expect(closed?.code == .closed)
    }
}
