import DescriptorIO
import DeviceKit
import DeviceTestKit
import LineProtocol
import Synchronization
import TestSupport

/// A loop with a clock that advances only if nothing is left to do on the loop, so that a program behaves identically
/// in every run.
///
/// The program must stay on this loop and wait for nothing but this clock.
final class QuietWorld: Sendable {
    /// The number of times that the loop gets to its timers before a check for activity. The loop gets to them when it
    /// has nothing else to do, and occasionally when it is busy. So one time proves nothing; four is chosen.
    private static let turns = 4

    let loop = EventLoop()
    let clock = ManualClock()
    /// The number of transfers over links.
    private let traffic = Mutex(0)

    init() { loop.start() }

    deinit { loop.stop() }

    /// A link whose traffic counts as activity.
    func watched(_ link: any Link) -> any Link { WatchedLink(link) { [self] in traffic.withLock { $0 += 1 } } }

    /// Runs `body` on the loop, and returns its result. If `body` waits for something that never comes, cancels it and
    /// returns nil.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result? {
        let outcome = Outcome<Result>()
        let task = Task(executorPreference: loop) { [loop] in
            let result = await Task(executorPreference: loop, operation: body).result
            outcome.result = result
        }
        await Task(executorPreference: loop) { [self] in
            while true {
                await untilQuiet()
                if outcome.result != nil { return }
                guard let next = clock.deadlines.first else { return }
                clock.advance(by: max(.zero, next - clock.now.offset))
            }
        }.value
        if outcome.result == nil { task.cancel() }
        return try outcome.result?.get()
    }

    /// Waits until nothing is left to do on the loop: no transfer and no new deadline during ``turns`` passes.
    private func untilQuiet() async {
        var (before, now) = (State?.none, state)
        while now != before {
            for _ in 0..<Self.turns { try? await EventLoopClock(loop).sleep(for: .zero) }
            (before, now) = (now, state)
        }
    }

    /// The signs of activity.
    private struct State: Equatable {
        var traffic: Int
        var deadlines: [Duration]
    }

    private var state: State { State(traffic: traffic.withLock { $0 }, deadlines: clock.deadlines) }

    private final class Outcome<Result: Sendable>: @unchecked Sendable {
        // @unchecked: used on the loop only.
        var result: Swift.Result<Result, any Error>?
    }
}

/// A link that calls `tell` at each send and at each arrival of bytes.
private final class WatchedLink: LinkWrapper {
    let link: any Link
    private let tell: @Sendable () -> Void

    init(_ link: any Link, tell: @escaping @Sendable () -> Void) {
        self.link = link
        self.tell = tell
    }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        tell()
        return try link.sendAtOnce(bytes)
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        tell()
        try await link.send(bytes)
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        defer { tell() }
        return try await link.receive()
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        defer { tell() }
        return try await link.receiveAvailable()
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { [tell] arrival in
            tell()
            receiver(arrival)
        }
    }
}
