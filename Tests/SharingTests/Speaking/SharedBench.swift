import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

/// A device of any family, shared at a Unix socket. The time of the share stands still unless a test advances
/// ``clock``.
struct SharedBench {
    let clock: ManualClock
    let device: SharedDevice
    let path: String
    /// The reports so far.
    let reports: Watched<[SharingReport.Event]>

    /// Calls `body` once the link to the device is up; at once if the link is opened on demand.
    ///
    /// - Parameters:
    ///   - row: The sharing rules; nil for the rules in the family's row.
    ///   - isFamilyAssumed: Whether nobody has named the family, as in pumpctld without `--family`.
    static func run(
        _ family: Family, at endpoint: String, as row: SharedFamily? = nil, isFamilyAssumed: Bool = false,
        holding: LinkHolding = .always,
        over link: @escaping @Sendable () async throws -> any Link,
        _ body: (SharedBench) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let reports = Watched<[SharingReport.Event]>([])
        let clock = ManualClock()
        let settings = SharedDeviceSettings(
            name: family.name, endpoint: try Endpoint(endpoint), family: family, isFamilyAssumed: isFamilyAssumed,
            holding: holding)
        let device = SharedDevice(settings, try #require(row ?? SharedFamily.row(of: family)), clock: clock) { _ in
            do { return try await link() } catch {
                throw error as? LinkError ?? LinkError(.notFound, name: endpoint, activity: "open")
            }
        } tell: { report in
            reports.update { $0.append(report.event) }
        }
        let path = folder.path("device")
        let share = try await SocketShare.open(device, at: .unix(path: path))
        // The task has no preferred executor, as in a program without event loops.
        let running = Task { await device.run() }
        let bench = SharedBench(clock: clock, device: device, path: path, reports: reports)
        let result: Result<Void, any Error>
        do {
            if holding == .always {
                try await bench.untilReported("that the link is open") { if case .up = $0 { true } else { false } }
            }
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        await running.value
        await share.close()
        try result.get()
    }

    /// Calls `body` with a simulated device. The device pauses while its output waits to be read. Its time advances
    /// only as far as its replies need, or on demand.
    ///
    /// - Parameter isListened: Whether the share receives the device's output from the start. If false, it receives
    ///   output only once it has sent something.
    static func run<Device: SimulatedDevice>(
        _ family: Family, _ firmware: Device, isListened: Bool = true,
        _ body: (SharedBench, DeviceHost<Device>) async throws -> Void
    ) async throws {
        let host = DeviceHost(firmware, pace: .onDemand, hasFlowControl: true)
        try await run(family, at: "sim:\(family.name)") {
            let (ours, theirs) = try DescriptorChannel.pair()
            await host.attach(theirs, isListening: isListened)
            return DescriptorLink(ours, name: "sim:\(family.name)")
        } _: { bench in
            try await body(bench, host)
        }
    }

    func untilReported(_ what: String, _ isIt: @Sendable (SharingReport.Event) -> Bool) async throws {
        _ = try await reports.wait(for: what) { $0.contains(where: isIt) ? true : nil }
    }

    /// Connects a client, and waits until it has joined.
    func client() async throws -> LineClientEnd {
        let before = joinedCount(in: reports.state)
        let client = LineClientEnd(
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience))
        _ = try await reports.wait(for: "a client to join") { joinedCount(in: $0) > before ? true : nil }
        return client
    }

    private func joinedCount(in events: [SharingReport.Event]) -> Int {
        events.count { if case .came = $0 { true } else { false } }
    }

    /// Waits until something sleeps for exactly `time` from now, and advances the clock by it.
    func pass(_ time: Duration) async {
        let end = clock.now.offset + time
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: time)
    }
}

extension LineClientEnd {
    /// Waits for the next `count` bytes; returns fewer after a hang-up.
    func bytes(_ count: Int) async -> [UInt8] {
        var bytes = take(count)
        while bytes.count < count, let more = try? await channel.read() {
            put(more)
            bytes += take(count - bytes.count)
        }
        return bytes
    }

    /// Waits for all input until the hang-up.
    func rest() async -> [UInt8] { await bytes(.max) }
}
