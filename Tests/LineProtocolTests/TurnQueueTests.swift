import TestSupport
import Testing

@testable import LineProtocol

@Suite("The turn queue of a link", .timeLimit(.minutes(5)))
struct TurnQueueTests {
    private let turns = TurnQueue()

    @Test func `Turns are given in the order of arrival`() async {
        #expect(turns.takeIfFree())
        #expect(!turns.takeIfFree())
        let places = [turns.join(), turns.join()]
        turns.release()
        #expect(await places[0].isReached())
        turns.release()
        #expect(await places[1].isReached())
        turns.release()
        #expect(turns.takeIfFree())
    }

    @Test func `Urgent waiters go first, in their order`() async {
        #expect(turns.takeIfFree())
        let ordinary = turns.join()
        #expect(!turns.isUrgentWaiting)
        let urgent = [turns.join(isUrgent: true), turns.join(isUrgent: true)]
        for place in urgent {
            #expect(turns.isUrgentWaiting)
            turns.release()
            #expect(await place.isReached())
        }
        #expect(!turns.isUrgentWaiting)
        turns.release()
        #expect(await ordinary.isReached())
    }

    @Test func `Urgent waiters go first, then overtaken ones, then early ones, then ordinary ones`() async {
        #expect(turns.takeIfFree())
        let (ordinary, early, urgent) = (turns.join(), turns.join(isEarly: true), turns.join(isUrgent: true))
        let overtaken = turns.join(wasOvertaken: true)
        for place in [urgent, overtaken, early, ordinary] {
            turns.release()
            #expect(await place.isReached())
        }
    }

    @Test func `Joining a free queue gives the turn at once`() async {
        #expect(await turns.join().isReached())
        #expect(!turns.takeIfFree())
    }

    @Test func `A waiter that gave up is skipped`() async {
        #expect(turns.takeIfFree())
        let (first, second) = (turns.join(isUrgent: true), turns.join())
        let waiting = Task { await first.isReached() }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(!turns.isUrgentWaiting)
        turns.release()
        #expect(await second.isReached())
    }

    @Test func `A cancelled task takes no turn`() async {
        let turns = turns
        let taking = Task {
            try? await untilCancelled()
            return await turns.take()
        }
        taking.cancel()
        #expect(await !taking.value)
        #expect(turns.takeIfFree())
    }

    @Test func `Dismissing ends all waits, and later waiters still get their turn`() async {
        #expect(turns.takeIfFree())
        let place = turns.join()
        turns.dismissAll()
        #expect(await !place.isReached())
        let later = turns.join()
        turns.release()
        #expect(await later.isReached())
    }

    @Test func `From any threads, only one holder has the turn, and no waiter is lost`() async {
        let turns = turns
        let (inside, most) = (Watched(0), Watched(0))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    guard await turns.take() else { return }
                    let now = inside.update { inside in
                        inside += 1
                        return inside
                    }
                    most.update { $0 = max($0, now) }
                    await Task.yield()
                    inside.update { $0 -= 1 }
                    turns.release()
                }
                if number.isMultiple(of: 7) {
                    let cancelled = Task { if await turns.take() { turns.release() } }
                    cancelled.cancel()
                }
            }
        }
        #expect(most.state == 1)
        #expect(await turns.take())
    }
}
