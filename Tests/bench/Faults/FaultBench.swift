import DeviceKit
import LineProtocol
import Transports

/// A device with faults as a host script sees it: links to it, time, what went over the carrier, and the truth.
///
/// - Note: `Truth` is what one who stands beside the device sees of it.
struct FaultBench<Truth: Sendable>: Sendable {
    let clock: any Clock<Duration>
    let executor: any SerialExecutor & TaskExecutor
    let tape: Tape
    let seed: UInt64
    /// Whether the carrier is BLE, and not a wire.
    let isRadio: Bool
    /// Where the device is.
    let endpoint: Endpoint
    /// Opens a link to the device; throws `LinkError` while it is away.
    let open: @Sendable () async throws -> any Link
    /// What is so now.
    let truth: @Sendable () async -> Truth

    /// Opens a link as one does who tries again while the device is away.
    func link() async throws -> any Link {
        for _ in 0..<30 {
            if let link = try? await open() { return link }
            await pass(.seconds(1))
        }
        return try await open()
    }

    /// What gets the device of a link back.
    func reconnector(_ link: any Link) -> Reconnector {
        Reconnector(endpoint, link, clock: clock) { [open] _ in try await open() }
    }

    /// Lets time go by.
    func pass(_ time: Duration) async { try? await clock.sleep(for: time) }
}

/// What a host does with a device of one family, and what is known of each of its steps.
protocol FaultScript: Sendable {
    associatedtype Truth: Sendable

    /// The family, as its simulator calls it.
    static var family: String { get }
    /// What the steps are called.
    static var steps: [String] { get }
    /// Goes through the steps; an outcome of each.
    static func run(_ bench: FaultBench<Truth>) async -> [Outcome]
}

/// A session that is begun anew where its link was lost.
///
/// - Note: A command that was under way then has failed, and said so.
final class RenewedSession<Truth: Sendable, F: FollowedFamily> {
    private let bench: FaultBench<Truth>
    private var session: Session<F>?

    init(_ bench: FaultBench<Truth>) { self.bench = bench }

    /// Does something in a session; where there is none, that is told.
    func perform(_ body: (Session<F>) async -> Outcome) async -> Outcome {
        if bench.tape.isDropped { await close() }
        if session == nil {
            guard let link = try? await bench.link() else { return .reported }
            do { session = try await F.begin(over: link, clock: bench.clock, waitsUntilReady: true) } catch {
                await link.close()
            }
        }
        guard let session else { return .reported }
        return await body(session)
    }

    func close() async {
        await session?.close()
        session = nil
    }
}
