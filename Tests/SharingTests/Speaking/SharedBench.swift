import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

/// A device of any family, shared at a Unix socket. Time stands still on its speaker's clock.
struct SharedBench {
    let clock: ManualClock
    let device: SharedDevice
    let path: String
    /// What was reported, as text.
    let reports: Watched<[SharingReport.Event]>

    /// Calls `body` with a device at `link` that is there.
    ///
    /// - Parameter row: The family as it is shared; nil for the one of its row.
    static func run(
        _ family: Family, at endpoint: String, as row: SharedFamily? = nil, isFamilyAssumed: Bool = false,
        over link: @escaping @Sendable () async throws -> any Link,
        _ body: (SharedBench) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let reports = Watched<[SharingReport.Event]>([])
        let clock = ManualClock()
        let settings = SharedDeviceSettings(
            name: family.name, endpoint: try Endpoint(endpoint), family: family, isFamilyAssumed: isFamilyAssumed,
            holding: .always)
        let device = SharedDevice(settings, try #require(row ?? SharedFamily.row(of: family)), clock: clock) { _ in
            do { return try await link() } catch {
                throw error as? LinkError ?? LinkError(.notFound, name: endpoint, activity: "open")
            }
        } tell: { report in
            reports.update { $0.append(report.event) }
        }
        let path = folder.path("device")
        let share = try await SocketShare.open(device, at: .unix(path: path))
        // In a task that prefers no executor, as of a program that knows nothing of loops.
        let running = Task { await device.run() }
        let bench = SharedBench(clock: clock, device: device, path: path, reports: reports)
        let result: Result<Void, any Error>
        do {
            try await bench.untilReported("that the link is open") { if case .up = $0 { true } else { false } }
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        await running.value
        await share.close()
        try result.get()
    }

    /// Calls `body` with a simulated device, which stands still while what it said waits, and whose time goes by as it is
    /// needed or asked for.
    ///
    /// - Parameter isListened: Whether the device is heard before anything was sent to it.
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

    /// A client that has joined.
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

    /// Lets time go by once somebody waits for that.
    func pass(_ time: Duration) async {
        let end = clock.now.offset + time
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: time)
    }
}

extension LineClientEnd {
    /// The next `count` bytes that it is told; fewer if it is hung up on.
    func bytes(_ count: Int) async -> [UInt8] {
        var bytes = take(count)
        while bytes.count < count, let more = try? await channel.read() {
            put(more)
            bytes += take(count - bytes.count)
        }
        return bytes
    }

    /// All that it is told until it is hung up on.
    func rest() async -> [UInt8] { await bytes(.max) }
}
