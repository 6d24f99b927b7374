import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import Synchronization
import TestSupport

/// A host that receives a phone's messages, and then hands one on to the phone.
enum RescueFaultScript: FaultScript {
    struct Truth: Sendable {
        /// The messages that the phone sends.
        var stock: [PhoneMessage]
        /// The messages that the phone has received.
        var received: [PhoneMessage]
    }

    typealias Bench = FaultBench<Truth>

    static let family = "rescue"
    static let steps = ["receive", "send"]

    static func run(_ bench: Bench) async -> [Outcome] { [await receive(bench), await handOn(bench)] }

    // MARK: Receiving

    private static func receive(_ bench: Bench) async -> Outcome {
        let start = bench.tape.end
        let store = RescueMemoryStore()
        let events = Mutex(0)
        let truth = await bench.truth()
        let relay = MessageRelay(
            store, until: MessageGoal(count: truth.stock.count), on: .shared, executor: bench.executor,
            clock: bench.clock
        ) { event in
            switch event {
            case .malformed, .lost: events.withLock { $0 += 1 }
            default: break
            }
        }
        var reports = 0
        let carrier = MessageCarrier(bench.endpoint, for: relay) { _ in try await bench.link() }
        let receiving = Task(executorPreference: bench.executor) { try await carrier.receive() }
        // The relay waits for a lost message without a limit, so it is cancelled after 30 s.
        let isGivenUp = Mutex(false)
        let timer = Task(executorPreference: bench.executor) {
            await bench.pass(.seconds(30))
            guard !Task.isCancelled else { return }
            isGivenUp.withLock { $0 = true }
            receiving.cancel()
        }
        let result = await receiving.result
        timer.cancel()
        let hasEnded = isGivenUp.withLock { !$0 }
        if case .failure = result, hasEnded { reports += 1 }
        let stored = await store.messages(nil).map(RescueOracle.Fields.init)
        reports += events.withLock { $0 }
        let stock = truth.stock.map(RescueOracle.Fields.init)
        guard hasEnded || stored.count < stock.count else { return .failed("all is stored, and it does not end") }
        return judge(bench, stored, from: start, stock, reports: reports)
    }

    /// - Parameters:
    ///   - stored: The messages that the host has stored.
    ///   - reports: The number of times that the host has reported a failure, a loss or a malformed message.
    private static func judge(
        _ bench: Bench, _ stored: [RescueOracle.Fields], from start: Int, _ stock: [RescueOracle.Fields], reports: Int
    ) -> Outcome {
        let delivered = RescueOracle.messages(bench.tape, from: start)
        if let strange = stored.first(where: { !delivered.contains($0) }) {
            return .failed("\(strange) is stored, which did not come")
        }
        if let lost = stock.first(where: { delivered.contains($0) && !stored.contains($0) }) {
            return .failed("\(lost) came, and is not stored")
        }
        if Set(stored) == Set(stock) { return reports > 0 ? .recovered : .done }
        if stored.contains(where: { !stock.contains($0) }) { return .undetectable }
        if reports > 0 { return .reported }
        let rest = RescueOracle.rest(bench.tape, from: start)
        guard rest.isEmpty else { return .failed("\(rest) came, and nobody is told") }
        return .undetectable
    }

    // MARK: Handing on

    private static func handOn(_ bench: Bench) async -> Outcome {
        var random = SplitMix64(seed: bench.seed)
        guard let position = RescuePosition(latitude: 35.9, longitude: -79.05) else { return .failed("no position") }
        let message = RescueMessage(
            id: .random(using: &random), content: "The bridge is open", position: position, time: .beginning,
            category: .other)
        let store = RescueMemoryStore()
        _ = await store.insertNew([message])
        let relay = MessageRelay(
            store, until: MessageGoal(), on: .shared, executor: bench.executor, clock: bench.clock
        ) { _ in }
        var isDone = true
        do {
            let carrier = MessageCarrier(bench.endpoint, for: relay) { _ in try await bench.link() }
            try await carrier.handOn([message])
        } catch {
            isDone = false
        }
        let isMarked = await !store.messages(.synced).isEmpty
        // Time for the message to reach the phone.
        await bench.pass(.seconds(1))
        let hasCome = await bench.truth().received.map(RescueOracle.Fields.init).contains(RescueOracle.Fields(message))
        guard isDone || !isMarked else { return .failed("a message is marked as handed on, and handing it on failed") }
        guard isDone else { return .reported }
        guard isMarked else { return .failed("handing it on is called done, and the message is not marked") }
        // The protocol has no acknowledgement of a message.
        return hasCome ? .done : .undetectable
    }
}
