import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Message carriers", .timeLimit(.minutes(5)))
struct MessageCarrierTests {
    private let store = RescueMemoryStore()
    private let clock = ManualClock()
    private let events = Watched<[String]>([])
    private let lost = LinkError(.disconnected, name: "scripted", activity: "receive")

    /// A relay that waits for `count` messages, and notes its events in ``events``.
    private func relay(until count: Int) -> MessageRelay {
        MessageRelay(store, until: MessageGoal(count: count), clock: clock) { [events] event in
            let text =
                switch event {
                case .kept(let message): message.content
                case .lost(let error): "lost: \(error.code.rawValue)"
                case .back(let name): "back: \(name)"
                case .waitsForDevice(let error): "waits: \(error.code.rawValue)"
                default: "\(event)"
                }
            events.update { $0.append(text) }
        }
    }

    private func message(_ text: String) throws -> RescueMessage {
        RescueMessage(
            id: .random(), content: text, position: try #require(RescuePosition(latitude: 1, longitude: 2)),
            time: .beginning, category: .other)
    }

    @Test func `A lost device is waited for until the expected messages have arrived`() async throws {
        let (first, second) = (ScriptedLink(), ScriptedLink())
        let links = Watched([first, second])
        let carrier = MessageCarrier(
            try Endpoint("tcp:bench:4000"), for: relay(until: 2),
            open: { _ in links.update { $0.removeFirst() as any Link } })
        try await first.deliver([message("one").json])
        try await second.deliver([message("two").json])
        let receiving = Task { try await carrier.receive() }
        _ = try await events.wait(for: "the first message") { $0.isEmpty ? nil : true }
        await first.end(with: lost)
        try await receiving.value
        #expect(events.state == ["one", "lost: disconnected", "back: tcp:bench:4000", "two"])
        #expect(await store.messages(nil).count == 2)
        #expect(first.closeCount == 1 && second.closeCount == 1)
    }

    @Test func `After a phone's address has changed, its messages are not sent back to the new one`() async throws {
        let links = Watched(["A", "B"].map { AddressedLink(address: $0) })
        let (first, second) = (links.state[0].bare, links.state[1].bare)
        let relay = relay(until: 2)
        let carrier = MessageCarrier(
            try Endpoint("tcp:bench:4000"), for: relay, open: { _ in links.update { $0.removeFirst() as any Link } })
        let two = try [message("one"), message("two")]
        await first.deliver([two[0].json])
        await second.deliver([two[1].json])
        let receiving = Task { try await carrier.receive() }
        _ = try await events.wait(for: "the first message") { $0.isEmpty ? nil : true }
        await first.end(with: lost)
        try await receiving.value
        let phone = AddressedLink(address: "B")
        try await relay.handOn(two, over: phone)
        #expect(phone.bare.unreadSent == [String(decoding: two[0].json, as: UTF8.self)])
    }

    @Test func `An absent BLE device is waited for on request and reported once`()
        async throws
    {
        let link = ScriptedLink()
        let failures = Watched(2)
        let carrier = MessageCarrier(try Endpoint("ble:00:00:5E:00:53:01"), for: relay(until: 1)) { endpoint in
            guard failures.state == 0 else {
                failures.update { $0 -= 1 }
                throw LinkError(.notFound, name: endpoint.text, activity: "find")
            }
            return link
        }
        await #expect(throws: LinkError.self) { try await carrier.receive() }
        failures.update { $0 = 2 }
        try await link.deliver([message("one").json])
        let receiving = Task { try await carrier.receive(waitsForDevice: true) }
        for second in 1...2 {
            await clock.untilSomebodySleeps(until: .seconds(second))
            clock.advance(by: .seconds(1))
        }
        try await receiving.value
        #expect(events.state == ["waits: not_found", "one"])
    }

    @Test func `Receiving fails if a message behind the last expected one is not stored`() async throws {
        let link = ScriptedLink()
        let next = try message("two").json
        let relay = MessageRelay(
            SmallStore {
                await link.deliver([next])
                await settle()
            }, until: MessageGoal(count: 1), clock: clock)
        let carrier = MessageCarrier(try Endpoint("tcp:bench:4000"), for: relay, open: { _ in link })
        try await link.deliver([message("one").json])
        let error = await #expect(throws: RescueStoreError.self) { try await carrier.receive() }
        #expect(error?.code == .full && error?.text == "1 message was not stored: the disk is full")
        #expect(link.closeCount == 1)
    }

    @Test func `Messages count as handed on after their link was closed without an error`() async throws {
        let link = ScriptedLink()
        let relay = relay(until: 1)
        let carrier = MessageCarrier(try Endpoint("tcp:bench:4000"), for: relay, open: { _ in link })
        let two = try [message("one"), message("two")]
        _ = await store.insertNew(two)
        try await carrier.handOn(two)
        #expect(await relay.handedOn == Set(two.map(\.id)))
        #expect(await store.messages(.pendingSync).isEmpty)
        #expect(link.closeCount == 1)
    }
}

/// A link to a device with an address.
private final class AddressedLink: LinkWrapper {
    let bare = ScriptedLink()
    let deviceAddress: String?
    var link: any Link { bare }

    init(address: String) { deviceAddress = address }
}

/// A store that is full after the first insertion, and calls a closure during that insertion.
private struct SmallStore: RescueStore {
    let meanwhile: @Sendable () async -> Void
    private let store = RescueMemoryStore()

    init(meanwhile: @escaping @Sendable () async -> Void) { self.meanwhile = meanwhile }

    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        guard await store.messages(nil).isEmpty else { throw RescueStoreError(.full, "the disk is full") }
        await meanwhile()
        return await store.insertNew(messages)
    }

    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        await store.messages(status)
    }

    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) { await store.markSynced(ids) }
}
