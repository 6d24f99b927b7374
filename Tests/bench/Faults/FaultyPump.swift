import FirmwareSim
import LineProtocol

/// A session with a pump that has faults, in simulated time, all of it from one seed.
final class FaultyPump: @unchecked Sendable {
    // @unchecked: it is touched on the simulated loop's thread only.

    /// How long a command may take, with all that is tried again.
    private static let longest = Duration.seconds(120)

    /// A session did not come to an end.
    struct Hang: Error {}

    private let loop = SimulatedLoop()
    private(set) var device: FaultyDevice<PumpFirmware>
    private var link: PumpWire?
    private var session: PumpSession?
    /// What was delivered since the last command began.
    private var delivered: [UInt8] = []

    /// The lines of it.
    var lines: [Substring] {
        String(decoding: delivered, as: UTF8.self).split(whereSeparator: \.isNewline)
    }

    init(faults: String, seed: UInt64) throws {
        let settings = try Simulator.pump.settings(["fault": faults])
        let options = PumpFirmwareOptions(
            lineRate: .unlimited, heat: .fixed(water: 12, skin: 34.5), potentiometer: 716)
        device = FaultyDevice(PumpFirmware(options: options), faults: settings.faults(), seed: seed)
        loop.device = SimulatedLoop.Device(
            next: { [unowned self] in device.nextActivity ?? loop.now + .seconds(1) },
            step: { [unowned self] in live(until: $0) })
        link = PumpWire(loop) { [unowned self] in device.receive($0, at: loop.now) }
        device.hostCame(at: .zero)
    }

    private func live(until instant: Duration) {
        for emission in device.advance(to: instant) {
            delivered += emission.bytes
            link?.arrive(emission.bytes)
        }
    }

    /// Has the session do something, and lets time go by until it is done.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PumpSession) async throws(SessionError) -> Value
    ) throws -> Result<Value, SessionError> {
        delivered = []
        let outcome = Outcome<Value>()
        let ending = loop.run(limit: loop.now + Self.longest) { [self] in
            do throws(SessionError) {
                outcome.result = .success(try await body(try await begun()))
            } catch {
                outcome.result = .failure(error)
            }
        }
        guard ending == .done, let result = outcome.result else { throw Hang() }
        return result
    }

    private func begun() async throws(SessionError) -> PumpSession {
        if let session { return session }
        guard let link else { preconditionFailure("a pump has a link") }
        let session = try await PumpSession.begin(over: link, clock: SimulatedClock(loop: loop))
        self.session = session
        return session
    }

    func close() {
        _ = loop.run(limit: loop.now + Self.longest) { [self] in await session?.close() }
    }

    private final class Outcome<Value: Sendable>: @unchecked Sendable {
        // @unchecked: touched by the loop's thread only.
        var result: Result<Value, SessionError>?
    }
}

/// A wire that takes everything at once.
private final class PumpWire: Link, @unchecked Sendable {
    // @unchecked: it is touched on the simulated loop's thread only.

    let name = "wire"
    let keepsPacketBounds = false
    let mayHaveReset = false
    var maximumWriteLength: Int? { nil }
    let executor: any SerialExecutor & TaskExecutor

    private let take: ([UInt8]) -> Void
    private var receiver: (@Sendable (LinkArrival) -> Void)?
    private var arrived: [[UInt8]] = []

    init(_ loop: SimulatedLoop, take: @escaping ([UInt8]) -> Void) {
        executor = loop
        self.take = take
    }

    func arrive(_ bytes: [UInt8]) { if let receiver { receiver(.bytes(bytes)) } else { arrived.append(bytes) } }

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        take(bytes)
        return true
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) { take(bytes) }

    func receive() async throws(LinkError) -> [UInt8]? { nil }

    func receiveAvailable() async throws(LinkError) -> [UInt8] { arrived.isEmpty ? [] : arrived.removeFirst() }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        self.receiver = receiver
        for bytes in arrived { receiver(.bytes(bytes)) }
        arrived = []
    }

    func close() async {
        receiver?(.ended(nil))
        receiver = nil
    }
}
