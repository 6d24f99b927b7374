import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("The message relay", .timeLimit(.minutes(5)))
struct MessageRelayTests {
    private let store = RescueMemoryStore()
    private let lost = LinkError(.disconnected, name: "scripted", activity: "send")

    private let counts = Watched<[Int]>([])

    /// A relay that notes in ``counts`` how many messages each event reports as handed on.
    private var relay: MessageRelay {
        MessageRelay(store) { [counts] event in
            if case .handedOn(let count, to: _) = event { counts.update { $0.append(count) } }
        }
    }

    private func messages(_ texts: String..., category: RescueCategory = .other) throws -> [RescueMessage] {
        try texts.map { text in
            RescueMessage(
                id: .random(), content: text,
                position: try #require(RescuePosition(latitude: 1, longitude: 2)),
                time: .beginning, category: category)
        }
    }

    private func stored(_ status: RescueStatus? = nil) async -> [String] {
        await store.messages(status).map(\.content)
    }

    @Test("Messages beyond the goal are kept and counted as surplus", arguments: [1, 2])
    func surplus(count: Int) async throws {
        let three = try messages("one", "two", "three")
        let goal = MessageGoal(count: count)
        let link = ScriptedLink()
        await link.deliver([three.flatMap(\.json)])
        var intake = MessageIntake(MessageRelay(store, until: goal, on: .shared))
        let hasCome = try await intake.receive(from: link)
        #expect(hasCome)
        #expect(await stored() == ["one", "two", "three"])
        #expect(three.filter { !goal.isSurplus($0) } == Array(three.prefix(count)))
    }

    @Test("Known messages are reported once, however often they arrive")
    func known() async throws {
        let events = Watched<[String]>([])
        let relay = MessageRelay(store) { event in
            switch event {
            case .kept(let message): events.update { $0.append(message.content) }
            case .known: events.update { $0.append("known") }
            default: break
            }
        }
        let (one, two) = (try messages("one"), try messages("two"))
        for arrivals in [[one], [one, two], [one, two]] {
            let link = ScriptedLink()
            await link.deliver(arrivals.flatMap { $0 }.map(\.json))
            await link.end(with: nil)
            var intake = MessageIntake(relay)
            _ = try await intake.receive(from: link)
        }
        #expect(events.state == ["one", "known", "two"])
    }

    @Test("Several links count together, and a repeated message counts once")
    func together() async throws {
        let goal = MessageGoal(count: 2)
        let relay = MessageRelay(store, until: goal, on: .shared)
        let same = try messages("one")
        for address in ["A", "B"] { _ = try await relay.entrance(from: address).insertNew(same) }
        #expect(!goal.hasCome)
        _ = try await relay.entrance(from: "B").insertNew(messages("two"))
        #expect(goal.hasCome)
        try await relay.untilCome()
    }

    @Test("A message whose sending failed stays pending, with those after it")
    func failed() async throws {
        _ = try await store.insertNew(messages("one", "two", "three"))
        let relay = relay
        let link = ScriptedLink()
        link.failSends(with: lost)
        await #expect(throws: LinkError.self) { try await relay.handOn(over: link) }
        #expect(await stored(.pendingSync) == ["one", "two", "three"])
        #expect(counts.state.isEmpty)
        #expect(await relay.handedOn.isEmpty)
    }

    @Test("Only messages sent before the failure count as handed on")
    func partly() async throws {
        _ = try await store.insertNew(messages("one", "two", "three"))
        let relay = relay
        let link = FailingLink(after: 2)
        await #expect(throws: LinkError.self) { try await relay.handOn(over: link) }
        #expect(await stored(.pendingSync) == ["three"])
        #expect(await stored(.synced) == ["one", "two"])
        #expect(counts.state == [2])
    }

    @Test("Handing on given messages sends no event")
    func once() async throws {
        let three = try messages("one", "two", "three")
        _ = await store.insertNew(three)
        let relay = relay
        try await relay.handOn(three, over: ScriptedLink())
        #expect(await relay.handedOn.count == 3)
        #expect(counts.state.isEmpty)
    }

    @Test("If the link breaks while given messages are sent, none counts as handed on, even if some were sent")
    func exchange() async throws {
        let three = try messages("one", "two", "three")
        _ = await store.insertNew(three)
        let relay = relay
        await #expect(throws: LinkError.self) {
            try await relay.send(three, over: FailingLink(after: 2), receivingFor: nil)
        }
        #expect(await stored(.pendingSync) == ["one", "two", "three"])
        try await relay.send(three, over: ScriptedLink(), receivingFor: nil)
        #expect(await stored(.synced) == ["one", "two", "three"])
    }

    @Test("A message is not sent back to its origin, even while the store is slow")
    func origin() async throws {
        let store = SlowStore()
        let relay = MessageRelay(store)
        let bare = ScriptedLink()
        let link = AddressedLink(link: bare, deviceAddress: "A")
        let (theirs, ours) = try (messages("theirs"), messages("ours"))
        let insertion = Task { try await relay.entrance(from: "A").insertNew(theirs) }
        _ = try await store.inserted.wait(for: "the message in the store") { $0 ? true : nil }
        let handing = Task { try await relay.handOn(over: link) }
        _ = try await store.readings.wait(for: "a look at what is to be handed on") { $0 > 0 ? true : nil }
        await settle()
        store.release.update { $0 = true }
        #expect(try await insertion.value == theirs)
        _ = try await relay.entrance(from: "B").insertNew(ours)
        #expect(await bare.nextSent().contains("ours"))
        #expect(bare.unreadSent.isEmpty)
        handing.cancel()
        _ = await handing.result
    }
}

/// A store that keeps new messages at once, but confirms them only after `release`.
private struct SlowStore: RescueStore {
    let store = RescueMemoryStore()
    let inserted = Watched(false)
    let readings = Watched(0)
    let release = Watched(false)

    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        let new = await store.insertNew(messages)
        inserted.update { $0 = true }
        _ = try? await release.wait(for: "the release") { $0 ? true : nil }
        return new
    }

    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        defer { readings.update { $0 += 1 } }
        return await store.messages(status)
    }

    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) { await store.markSynced(ids) }
}

/// A link with a known device address.
private final class AddressedLink: LinkWrapper {
    let link: any Link
    let deviceAddress: String?

    init(link: any Link, deviceAddress: String) {
        self.link = link
        self.deviceAddress = deviceAddress
    }
}

/// A link that accepts `count` messages and then breaks.
private final class FailingLink: LinkWrapper {
    let link: any Link = ScriptedLink()
    private let rest: Watched<Int>

    init(after count: Int) { rest = Watched(count) }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        let isBroken = rest.update { rest in
            rest -= 1
            return rest < 0
        }
        if isBroken { throw LinkError(.disconnected, name: name, activity: "send") }
    }
}
