import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

/// A simulated pump, shared at a Unix socket.
struct SharedPump {
    let device: SharedDevice
    let path: String

    /// Calls `body` with a pump that is there.
    static func run(_ body: (SharedPump) async throws -> Void) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let settings = SharedDeviceSettings(name: "pump", endpoint: try Endpoint("sim:pump"), family: .pump)
        let device = SharedDevice(settings, try #require(SharedFamily.row(of: .pump))) { _ in
            let (ours, theirs) = try DescriptorChannel.pair()
            let host = DeviceHost(PumpFirmware(), pace: .realTime(ContinuousClock()))
            await host.attach(theirs)
            Task { try await host.run() }
            return DescriptorLink(ours, name: "sim:pump")
        }
        let share = try await SocketShare.open(device, at: .unix(path: path))
        let running = Task(executorPreference: device.loop) { await device.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(SharedPump(device: device, path: path))) } catch {
            result = .failure(error)
        }
        running.cancel()
        await running.value
        await share.close()
        try result.get()
    }

    func client() async throws -> LineReader {
        LineReader(
            try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now.advanced(by: .seconds(10))))
    }
}

/// One client of a shared device.
final class LineReader {
    let channel: DescriptorChannel
    private var bytes: [UInt8] = []

    init(_ channel: DescriptorChannel) { self.channel = channel }

    func say(_ text: String) async throws { try await channel.write(Array(text.utf8)) }

    /// The next line that it is told, without its end.
    func line() async throws -> String {
        while true {
            if let end = bytes.firstIndex(of: 0x0A) {
                defer { bytes.removeSubrange(...end) }
                return String(decoding: bytes[..<end].filter { $0 != 0x0D }, as: UTF8.self)
            }
            guard let more = try await channel.read() else { throw CancellationError() }
            bytes += more
        }
    }
}
