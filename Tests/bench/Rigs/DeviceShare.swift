import DescriptorIO
import DeviceKit
import LineProtocol
import Sharing
import TestSupport
import Transports

/// A device that this process shares as pumpctld does, at one address.
final class DeviceShare: Sendable {
    /// The kind of address at which programs reach the device.
    enum Way: String, Sendable, CaseIterable {
        case terminal, tcp, unix
    }

    /// The endpoint at which programs reach the device.
    let endpoint: String
    private let running: Task<Void, Never>
    private let folder: TemporaryFolder
    private let closeShare: @Sendable () async -> Void

    /// Shares the device to which `open` opens a link, and waits until the link is up.
    init(_ family: Family, by way: Way, open: @escaping @Sendable () async throws -> any Link) async throws {
        // The endpoint is a placeholder: `open` opens the link.
        let settings = SharedDeviceSettings(name: "device", endpoint: try Endpoint("tcp:rig:1"), family: family)
        guard let row = SharedFamily.row(of: family) else { throw CancellationError() }
        let isUp = Watched(false)
        let device = SharedDevice(settings, row, clock: ScaledClock.slow) { _ in
            try await open()
        } tell: { report in
            if case .up = report.event { isUp.update { $0 = true } }
        }
        let folder = TemporaryFolder()
        self.folder = folder
        switch way {
        case .terminal:
            let share = try await TerminalShare.open(device, link: folder.path("device"))
            endpoint = folder.path("device")
            closeShare = { await share.close() }
        case .tcp:
            let share = try await SocketShare.open(device, at: .tcp(host: "127.0.0.1", port: 0))
            endpoint = "tcp:127.0.0.1:\(share.port ?? 0)"
            closeShare = { await share.close() }
        case .unix:
            let share = try await SocketShare.open(device, at: .unix(path: folder.path("device")))
            endpoint = "unix:\(folder.path("device"))"
            closeShare = { await share.close() }
        }
        running = Task(executorPreference: device.loop) { await device.run() }
        _ = try await isUp.wait(for: "the device to be shared") { $0 ? true : nil }
    }

    func link() async throws -> any Link { try await LinkSchemes.standard.open(Endpoint(endpoint)) }

    func close() async {
        await closeShare()
        running.cancel()
        await running.value
    }
}
