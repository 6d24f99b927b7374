import DescriptorIO
import DeviceKit
import LineProtocol
import Sharing
import TestSupport
import Transports

/// Another rig's pump, shared: its links lead to one of the pump's shares.
final class SharedRig: PumpRig {
    /// By which way.
    enum Share: String, Sendable, CaseIterable {
        case terminal, tcp, unix
    }

    private let rig: any PumpRig
    private let device: SharedDevice
    private let running: Task<Void, Never>
    private let folder: TemporaryFolder
    private let endpoint: Endpoint
    private let close: @Sendable () async -> Void

    init(_ rig: any PumpRig, by share: Share) async throws {
        self.rig = rig
        let settings = SharedDeviceSettings(name: "pump", endpoint: try Endpoint("tcp:rig:1"), family: .pump)
        guard let row = SharedFamily.row(of: .pump) else { throw CancellationError() }
        let device = SharedDevice(settings, row) { _ in try await rig.link() }
        self.device = device
        let folder = TemporaryFolder()
        self.folder = folder
        switch share {
        case .terminal:
            let share = try await TerminalShare.open(device, link: folder.path("pump"))
            endpoint = try Endpoint(folder.path("pump"))
            close = { await share.close() }
        case .tcp:
            let share = try await SocketShare.open(device, at: .tcp(host: "127.0.0.1", port: 0))
            endpoint = try Endpoint("tcp:127.0.0.1:\(share.port ?? 0)")
            close = { await share.close() }
        case .unix:
            let share = try await SocketShare.open(device, at: .unix(path: folder.path("pump")))
            endpoint = try Endpoint("unix:\(folder.path("pump"))")
            close = { await share.close() }
        }
        running = Task(executorPreference: device.loop) { await device.run() }
        while await !device.isUp { await settle() }
    }

    func link() async throws -> any Link { try await LinkSchemes.standard.open(endpoint) }

    func stop() async {
        await close()
        running.cancel()
        await running.value
        await rig.stop()
    }

    // MARK: Hands

    func pressButton() async throws { try await rig.pressButton() }

    func setSkin(_ celsius: Double) async throws { try await rig.setSkin(celsius) }

    func setWater(_ celsius: Double) async throws { try await rig.setWater(celsius) }

    func setPotentiometer(_ reading: Int) async throws { try await rig.setPotentiometer(reading) }

    func run(for time: Duration) async throws { try await rig.run(for: time) }

    func moveClock(by time: Duration) async throws { try await rig.moveClock(by: time) }

    func reset() async throws { try await rig.reset() }

    func motor() async throws -> Motor { try await rig.motor() }

    func lifetime() async throws -> Duration { try await rig.lifetime() }
}
