import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import DeviceKit

@Suite("Offering of messages to phones", .timeLimit(.minutes(5)))
struct MessageOfferingTests {
    private let store = FailingStore()
    private let clock = ManualClock()
    private let events = Watched<[String]>([])

    private var relay: MessageRelay {
        MessageRelay(store, clock: clock) { [events] event in
            switch event {
            case .kept(let message): events.update { $0.append(message.content) }
            case .storeFails(let error): events.update { $0.append("fails: \(error.code)") }
            default: break
            }
        }
    }

    private func message(_ text: String) throws -> RescueMessage {
        RescueMessage(
            id: .random(), content: text, position: try #require(RescuePosition(latitude: 1, longitude: 2)),
            time: .beginning, category: .other)
    }

    private func untilTold(_ event: String) async throws {
        _ = try await events.wait(for: event) { $0.contains(event) ? true : nil }
    }

    @Test("Messages of a phone that are not stored are the result of a cancelled offering")
    func cancelled() async throws {
        let (centrals, arrivals) = AsyncStream.makeStream(of: (any Link).self)
        let offering = MessageOffering(relay, as: "Rescue")
        let serving = Task { try await offering.serve(centrals) }
        let (first, second) = (ScriptedLink(), ScriptedLink())
        for link in [second, first] { arrivals.yield(link) }
        store.fails.update { $0 = true }
        try await first.deliver([message("one").json])
        try await untilTold("fails: full")
        serving.cancel()
        let error = await #expect(throws: RescueStoreError.self) { try await serving.value }
        #expect(error?.code == .full)
    }

    @Test("The messages of a phone that leaves while the store fails are stored later, and other phones are served")
    func leaving() async throws {
        let (centrals, arrivals) = AsyncStream.makeStream(of: (any Link).self)
        let offering = MessageOffering(relay, as: "Rescue")
        let serving = Task { try await offering.serve(centrals) }
        let (first, second) = (ScriptedLink(), ScriptedLink())
        arrivals.yield(first)
        store.fails.update { $0 = true }
        try await first.deliver([message("one").json])
        try await untilTold("fails: full")
        await first.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        await clock.untilSomebodySleeps(until: .seconds(1))
        arrivals.yield(second)
        store.fails.update { $0 = false }
        try await second.deliver([message("two").json])
        try await untilTold("two")
        clock.advance(by: .seconds(1))
        try await untilTold("one")
        serving.cancel()
        await #expect(throws: CancellationError.self) { try await serving.value }
    }

    @Test("If messages can't be marked as sent, that is reported, and they are sent again after the next change")
    func unmarked() async throws {
        let (relay, link) = (relay, ScriptedLink())
        _ = try await store.insertNew([message("one")])
        store.fails.update { $0 = true }
        let handing = Task { try await relay.handOn(over: link) }
        #expect(await link.nextSent().contains("one"))
        try await untilTold("fails: full")
        store.fails.update { $0 = false }
        _ = try await relay.entrance(from: nil).insertNew([message("two")])
        for text in ["one", "two"] { #expect(await link.nextSent().contains(text)) }
        handing.cancel()
        await #expect(throws: CancellationError.self) { try await handing.value }
        #expect(await store.store.messages(.pendingSync) == [])
    }

    @Test("A failure of the store in a task that did not end first is thrown")
    func first() async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        defer { continuation.finish() }
        let error = await #expect(throws: RescueStoreError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {}
                group.addTask {
                    for await _ in never {}
                    throw RescueStoreError(.full, "the disk is full")
                }
                try await group.endWithFirst()
            }
        }
        #expect(error?.code == .full)
    }

    @Test("An intake that is full ends when its task is cancelled")
    func full() async throws {
        let count = 20_000
        let keptCount = Watched(0)
        let relay = MessageRelay(store, clock: clock) { event in
            if case .notKept = event { keptCount.update { $0 += 1 } }
        }
        store.fails.update { $0 = true }
        let link = ScriptedLink()
        let receiving = Task { try await relay.receive(from: link) }
        let one = try message("one")
        var bytes: [UInt8] = []
        for _ in 0..<count {
            var other = one
            other.id = .random()
            bytes += other.json
        }
        await link.deliver([bytes])
        _ = try await keptCount.wait(for: "all messages") { $0 == count ? true : nil }
        let isOver = Watched(false)
        let waiting = Task {
            defer { isOver.update { $0 = true } }
            try await receiving.value
        }
        receiving.cancel()
        for _ in 0..<100 where !isOver.state {
            await settle()
            clock.advance(by: .seconds(1))
        }
        try #require(isOver.state)
        let error = await #expect(throws: RescueStoreError.self) { try await waiting.value }
        #expect(error?.code == .full)
    }
}

/// A store whose writing fails on request.
private struct FailingStore: RescueStore {
    let store = RescueMemoryStore()
    let fails = Watched(false)

    private func check() throws(RescueStoreError) {
        if fails.state { throw RescueStoreError(.full, "the disk is full") }
    }

    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        try check()
        return await store.insertNew(messages)
    }

    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        await store.messages(status)
    }

    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) {
        try check()
        await store.markSynced(ids)
    }
}
