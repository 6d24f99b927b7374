import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Message exchanges", .timeLimit(.minutes(5)))
struct MessageExchangeTests {
    private let store = RescueMemoryStore()
    private let link = ScriptedLink()

    private func message(_ text: String) throws -> RescueMessage {
        let position = try #require(RescuePosition(latitude: 1, longitude: 2))
        return RescueMessage(writing: text, at: position, category: .other)
    }

    private func exchange(until count: Int = 1, hasCarrier: Bool = true) throws -> MessageExchange {
        let relay = MessageRelay(store, until: MessageGoal(count: count))
        let carrier = MessageCarrier(try Endpoint("tcp:bench:4000"), for: relay, open: { [link] _ in link })
        return MessageExchange(of: relay, over: hasCarrier ? carrier : nil)
    }

    @Test func `Receiving ends when all expected messages have arrived`() async throws {
        try await link.deliver([message("one").json])
        try await exchange().receive()
        #expect(await store.messages(nil).map(\.content) == ["one"])
        #expect(link.closeCount == 1)
    }

    @Test func `A message that was handed on is no longer pending`() async throws {
        let two = try [message("one"), message("two")]
        _ = await store.insertNew(two)
        #expect(try await exchange().handOn(two) == 0)
        #expect(await store.messages(.pendingSync).isEmpty)
    }

    @Test func `Without a carrier messages stay pending`() async throws {
        let two = try [message("one"), message("two")]
        _ = await store.insertNew(two)
        #expect(try await exchange(hasCarrier: false).handOn(two) == 2)
        #expect(await store.messages(.pendingSync) == two)
    }

    @Test func `A broken link is reported, and its messages stay pending`() async throws {
        let one = try [message("one")]
        _ = await store.insertNew(one)
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "send"))
        await #expect(throws: LinkError.self) { try await exchange().handOn(one) }
        #expect(await store.messages(.pendingSync) == one)
    }
}
