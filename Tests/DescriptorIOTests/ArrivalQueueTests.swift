import DescriptorIO
import DeviceTestKit
import Testing

@Suite("Queues of arrivals")
struct ArrivalQueueTests {
    private struct Lost: Error {}

    @Test("An error at the end is thrown once, whether a reader waits for it or comes later", arguments: [false, true])
    func end(isWaiting: Bool) async throws {
        let queue = ArrivalQueue<Int, Lost>()
        queue.append(7)
        #expect(try await queue.next() == 7)
        let reader = isWaiting ? Task { try await queue.next() } : nil
        await settle()
        queue.end(Lost())
        await #expect(throws: Lost.self) {
            if let reader { _ = try await reader.value } else { _ = try await queue.next() }
        }
        #expect(try await queue.next() == nil)
        queue.append(8)
        #expect(try await queue.next() == nil)
    }
}
