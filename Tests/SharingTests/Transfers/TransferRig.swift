import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import Foundation
import LineProtocol
import StrictJSON
import TestSupport
import Testing

@testable import Sharing
@testable import Transports

/// Devices at the control socket of a daemon, each with the name of its family. Time advances only through ``clock``.
struct TransferRig {
    typealias Device = (family: Family, link: @Sendable () async throws -> any Link)

    let clock: ManualClock
    let path: String
    let reports: Watched<[SharingReport.Event]>

    /// Calls `body` once the links of the devices are open.
    static func run(_ devices: [Device], _ body: (TransferRig) async throws -> Void) async throws {
        let (clock, reports, folder) = (ManualClock(), Watched<[SharingReport.Event]>([]), TemporaryFolder())
        let shared = try devices.map { family, link in
            let settings = SharedDeviceSettings(
                name: family.name, endpoint: try Endpoint("tcp:nowhere:1"), family: family, holding: .always)
            return SharedDevice(settings, try #require(SharedFamily.row(of: family)), clock: clock) { _ in
                do { return try await link() } catch {
                    throw error as? LinkError ?? LinkError(.notFound, name: "nowhere", activity: "open")
                }
            } tell: { report in
                reports.update { $0.append(report.event) }
            }
        }
        let server = SharingServer(shared, at: folder.path("socket"), clock: clock) { event in
            reports.update { $0.append(event) }
        }
        try await server.open()
        let running = shared.map { device in Task(executorPreference: device.loop) { await device.run() } }
        let result: Result<Void, any Error>
        do {
            try await reports.wait(for: "the links") { events in
                events.count { if case .up = $0 { true } else { false } } == devices.count ? () : nil
            }
            result = .success(
                try await body(TransferRig(clock: clock, path: folder.path("socket"), reports: reports)))
        } catch {
            result = .failure(error)
        }
        for task in running { task.cancel() }
        for task in running { await task.value }
        await server.close()
        try result.get()
    }

    /// A simulated device, which stands still while its output waits to be read.
    static func simulated(_ family: Family, _ firmware: some SimulatedDevice) -> Device {
        hosted(family, DeviceHost(firmware, pace: .onDemand, hasFlowControl: true))
    }

    /// A simulated device that the test controls through its host.
    static func hosted(_ family: Family, _ host: DeviceHost<some SimulatedDevice>) -> Device {
        let link: @Sendable () async throws -> any Link = {
            let (ours, theirs) = try DescriptorChannel.pair()
            await host.attach(theirs)
            return DescriptorLink(ours, name: "sim:\(family.name)")
        }
        return (family, link)
    }

    /// Waits until `isIt` is true for at least `count` reports.
    func untilReported(
        _ what: String, _ count: Int = 1, _ isIt: @Sendable (SharingReport.Event) -> Bool
    ) async throws {
        try await reports.wait(for: what) { $0.count(where: isIt) >= count ? () : nil }
    }

    func client() async throws -> ControlClient {
        let client = ControlClient(
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience))
        #expect(try await client.message()["event"] == "hello")
        return client
    }

    /// Waits until something sleeps for exactly `time` from now, and advances the clock by it.
    func pass(_ time: Duration) async {
        let end = clock.now.offset + time
        await clock.untilSomebodySleeps(until: end)
        clock.advance(by: time)
    }
}

/// The messages of a transfer.
struct Fetched {
    var bytes: [UInt8] = []
    var progress: [JSONValue] = []
    var response: JSONValue = .null
    var error: JSONValue { response["error"] ?? .null }
}

extension ControlClient {
    /// Requests a transfer.
    func begin(_ id: JSONValue, _ content: String, of device: String) async throws {
        try await send(
            .object(["id": id, "do": "transfer", "device": .text(device), "content": .text(content)]))
    }

    /// Reads the messages of a transfer up to its response, or until `count` bytes have come. Each piece must follow
    /// the last one.
    func fetch(_ id: JSONValue, until count: Int = .max, _ fetched: Fetched = Fetched()) async throws -> Fetched {
        var fetched = fetched
        while fetched.bytes.count < count {
            let message = try await message()
            if message["id"] == id {
                fetched.response = message
                return fetched
            }
            try #require(message["transfer"] == id, "\(message.json)")
            if message["event"] == "piece" {
                #expect(message["offset"]?.integer == fetched.bytes.count)
                let data = try #require(Data(base64Encoded: message["data"]?.string ?? "?"))
                #expect(!data.isEmpty && data.count <= Transfer.pieceLength)
                fetched.bytes += data
            } else {
                #expect(message["bytes"]?.integer == fetched.bytes.count)
                fetched.progress.append(message)
            }
        }
        return fetched
    }
}
