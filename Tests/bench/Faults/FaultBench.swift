import DeviceKit
import LineProtocol
import Transports

/// A device with faults from the point of view of a host script: links, time, the traffic on the carrier, and the
/// truth.
///
/// - Note: `Truth` is the state as seen by an observer next to the device.
struct FaultBench<Truth: Sendable>: Sendable {
    let clock: any Clock<Duration>
    let executor: any SerialExecutor & TaskExecutor
    let tape: Tape
    /// The seed of the device's faults.
    let seed: UInt64
    /// Whether the carrier is BLE instead of a wire.
    let isRadio: Bool
    /// The device's endpoint.
    let endpoint: Endpoint
    /// Opens a link to the device; throws `LinkError` while it is away.
    let open: @Sendable () async throws -> any Link
    /// Returns the device's true state.
    let truth: @Sendable () async -> Truth

    /// Opens a link. While the device is away, tries again after each second, 30 times at most, and then throws.
    func link() async throws -> any Link {
        for _ in 0..<30 {
            if let link = try? await open() { return link }
            await pass(.seconds(1))
        }
        return try await open()
    }

    /// Creates a reconnector for the device of a link.
    func reconnector(_ link: any Link) -> Reconnector {
        Reconnector(endpoint, link, clock: clock) { [open] _ in try await open() }
    }

    /// Lets time pass.
    func pass(_ time: Duration) async { try? await clock.sleep(for: time) }
}

/// A host's use of a device of one family, with an outcome for each step.
protocol FaultScript: Sendable {
    associatedtype Truth: Sendable

    /// The family's name in its simulator.
    static var family: String { get }
    /// The names of the steps.
    static var steps: [String] { get }
    /// Runs the steps; returns the outcome of each.
    static func run(_ bench: FaultBench<Truth>) async -> [Outcome]
}

/// A host's session, which is begun again for the next command if its link was lost.
///
/// A command in flight fails with an error when the link is lost, and is not sent again.
final class RenewedSession<Truth: Sendable, F: FollowedFamily> {
    private let bench: FaultBench<Truth>
    private var session: Session<F>?

    init(_ bench: FaultBench<Truth>) { self.bench = bench }

    /// Calls `body` with the session; returns `reported` if no session can be begun.
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
