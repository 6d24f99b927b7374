import DBus
import DescriptorIO
import DeviceTestKit
import Synchronization
import TestSupport
import Testing

@testable import BlueZ

@Suite("The notification queue", .timeLimit(.minutes(5)))
struct NotificationQueueTests {
    /// A queue, and a stand-in for bluetoothd that acknowledges notifications on demand.
    private final class Bench: Sendable {
        let sent = Watched<[UInt8]>([])
        /// The queue's questions to bluetoothd that have no answer yet. An answer acknowledges the notifications before
        /// the question.
        let questions = Watched<[@Sendable (NotificationQueue.Answer) -> Void]>([])
        let queue = Mutex<NotificationQueue?>(nil)

        init() {
            let queue = NotificationQueue { [sent] notification in
                sent.update { $0 += notification.value }
                return .success(())
            } ask: { [questions] answer in
                questions.update { $0.append(answer) }
            }
            self.queue.withLock { $0 = queue }
        }

        /// Sends the numbers in order, from a task on the loop.
        func send(_ numbers: Range<UInt8>) -> Task<Void, any Error> {
            Task(executorPreference: EventLoop.shared) {
                guard let queue = self.queue.withLock({ $0 }) else { return }
                for number in numbers { try await queue.send(.init(path: "/item", value: [number])) }
            }
        }

        func onLoop(_ body: @escaping @Sendable (NotificationQueue) async throws -> Void) -> Task<Void, any Error> {
            Task(executorPreference: EventLoop.shared) {
                guard let queue = self.queue.withLock({ $0 }) else { return }
                try await body(queue)
            }
        }

        /// Answers the oldest question.
        func answer(_ outcome: NotificationQueue.Answer = .success(())) async throws {
            let answer = try await questions.wait(for: "a question") { $0.isEmpty ? nil : $0.removeFirst() }
            await Task(executorPreference: EventLoop.shared) { answer(outcome) }.value
        }

        /// Waits until at least `count` notifications are sent.
        func isSent(_ count: Int) async throws {
            _ = try await sent.wait(for: "\(count) sent") { $0.count >= count ? true : nil }
        }
    }

    @Test func `A few notifications are sent without an acknowledgement`() async throws {
        let bench = Bench()
        // The queue asks bluetoothd once half of its limit of 32 is in flight.
        try await bench.send(0..<15).value
        #expect(bench.sent.state == Array(0..<15))
        #expect(bench.questions.state.isEmpty)
    }

    @Test func `At most 32 notifications are sent without an acknowledgement, and all in order`() async throws {
        let bench = Bench()
        let sending = bench.send(0..<100)
        try await bench.isSent(32)
        // The rest waits for an answer.
        await settle()
        #expect(bench.sent.state.count == 32)
        // The first answer confirms 16 notifications, each later one those that were sent before its question.
        for _ in 0..<5 { try await bench.answer() }
        try await sending.value
        #expect(bench.sent.state == Array(0..<100))
    }

    @Test func `Flushing waits until all notifications are acknowledged`() async throws {
        let bench = Bench()
        try await bench.send(0..<3).value
        let flushing = bench.onLoop { try await $0.flush() }
        try await bench.answer()
        try await flushing.value
        // With nothing in flight, no question is asked.
        try await bench.onLoop { try await $0.flush() }.value
        #expect(bench.questions.state.isEmpty)
    }

    @Test func `Queued notifications fail when bluetoothd stops, and later ones are sent`() async throws {
        let bench = Bench()
        // The loop starts these sends in order, before the queue fails.
        let sending = (0..<40).map { bench.send($0..<$0 + 1) }
        let gone = BLEError(.notRunning, activity: "notifying")
        try await bench.onLoop { $0.fail(gone) }.value
        for task in sending.prefix(32) { try await task.value }
        for task in sending.suffix(8) { await #expect(throws: gone) { try await task.value } }
        let count = bench.sent.state.count
        let again = bench.send(100..<200)
        try await bench.isSent(count + 32)
        await settle()
        // The late answer is to a question from before the failure, and makes no room for new notifications.
        try await bench.answer()
        await settle()
        #expect(bench.sent.state.count == count + 32)
        for _ in 0..<5 { try await bench.answer() }
        try await again.value
        #expect(bench.sent.state.suffix(100) == Array(100..<200))
    }

    @Test func `A cancelled notification is not sent, and the next ones are`() async throws {
        let bench = Bench()
        let first = bench.send(0..<32)
        try await first.value
        let second = bench.send(50..<51)
        let third = bench.send(60..<61)
        second.cancel()
        await #expect(throws: BLEError.self) { try await second.value }
        try await bench.answer()
        try await third.value
        #expect(bench.sent.state == Array(0..<32) + [60])
    }
}
