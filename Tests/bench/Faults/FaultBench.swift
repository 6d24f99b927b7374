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
    /// Opens a link to the device; throws `LinkError` while it is away.
    let open: @Sendable () async throws -> any Link
    /// What is so now.
    let truth: @Sendable () async -> Truth

    /// Where the device is, for those who open it again.
    static var endpoint: Endpoint {
        get throws { try Endpoint("sim:device") }
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
