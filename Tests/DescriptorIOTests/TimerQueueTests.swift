import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Timer queues")
struct TimerQueueTests {
    private let start = ContinuousClock.now

    @Test func `Due timers are taken once, earliest first`() {
        var queue = TimerQueue()
        let order = Recorder<Int>()
        for delay in [5, 2, 9, 2, 7] {
            _ = queue.add(deadline: start + .seconds(delay)) { order.append(delay) }
        }
        #expect(queue.next == start + .seconds(2))
        for action in queue.takeDue(at: start + .seconds(5)) { action() }
        #expect(order.values == [2, 2, 5])
        #expect(queue.next == start + .seconds(7))
        #expect(queue.takeDue(at: start + .seconds(5)).isEmpty)
    }

    @Test func `Removing a timer keeps the others`() {
        var queue = TimerQueue()
        let order = Recorder<Int>()
        let tokens = (0..<3).map { number in queue.add(deadline: start) { order.append(number) } }
        queue.remove(tokens[1])
        queue.remove(tokens[1])
        for action in queue.takeDue(at: start) { action() }
        #expect(order.values == [0, 2])
        #expect(queue.next == nil)
    }

    @Test func `The order holds under random additions and removals`() {
        var random = SplitMix64(seed: 14)
        var queue = TimerQueue()
        let order = Recorder<Int>()
        var waiting: [(token: TimerQueue.Token, delay: Int, number: Int)] = []
        for number in 0..<1000 {
            let delay = Int.random(in: 0..<50, using: &random)
            waiting.append((queue.add(deadline: start + .seconds(delay)) { order.append(number) }, delay, number))
            if number % 3 == 0 {
                queue.remove(waiting.remove(at: Int.random(in: waiting.indices, using: &random)).token)
            }
        }
        for action in queue.takeDue(at: start + .seconds(50)) { action() }
        #expect(order.values == waiting.sorted { ($0.delay, $0.number) < ($1.delay, $1.number) }.map(\.number))
    }
}
