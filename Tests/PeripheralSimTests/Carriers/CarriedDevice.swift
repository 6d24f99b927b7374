import BlueZ
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import PeripheralSim
import SimControl
import TestSupport

/// The carrier between a simulated device and its client in a test.
enum Carrier: String, CaseIterable, CustomStringConvertible {
    /// A pseudo-terminal.
    case terminal
    /// The fake `org.bluez`.
    case radio

    var description: String { rawValue }
}

/// A served simulated device, with a client and a program at its control socket.
///
/// The device's time advances only by the verb `advance`, which returns once the device has sent everything that is
/// due.
struct CarriedDevice: Sendable {
    let client: any CarriedClient
    let control: SimulationClient
    let folder: TemporaryFolder
    let reached: Watched<Reached>
    /// The number of bytes that the device has handed to its carrier for the client.
    let said: Watched<Int>

    /// Runs `body` with a device on a pseudo-terminal.
    ///
    /// - Parameter rate: The client's baud rate at first.
    static func onTerminal(
        _ device: FaultyDevice<some SimulatedDevice>, rate: Int = 9600,
        _ body: (CarriedDevice) async throws -> Void
    ) async throws {
        let device = Eavesdropper(device)
        let host = DeviceHost(device, pace: .realTime(ManualClock()))
        let voice = Voice(output: nil)
        await host.attach(voice)
        let returns = Watched<String?>(nil)
        let server = try await PseudoTerminalServer.open(host) { path in returns.update { $0 = path } }
        try await cleaning(server.close) {
            let client = try TerminalClient(server.path, returns: returns, rate: rate, reached: device.reached)
            try await use(host, client, voice, device.reached, body)
        }
    }

    /// Runs `body` with a device on the fake `org.bluez`.
    static func onRadio(
        _ device: FaultyDevice<some SimulatedPeripheral>, _ profile: RadioClient.Profile,
        _ body: (CarriedDevice) async throws -> Void
    ) async throws {
        let device = Eavesdropper(device)
        try await withRadioBench(device, pace: .realTime(ManualClock()), mtu: 517) { bench in
            let voice = Voice(output: BluetoothUUID(profile.notifies)?.bits)
            await bench.host.attach(voice)
            let client = try await RadioClient(bench.central, profile)
            try await use(bench.host, client, voice, device.reached, body)
        }
    }

    /// Opens a control socket for the device, waits until the device has noticed the client, and runs `body`.
    private static func use(
        _ host: DeviceHost<some SimulatedDevice>, _ client: some CarriedClient, _ voice: Voice,
        _ reached: Watched<Reached>, _ body: (CarriedDevice) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        // The family is only named in the greeting, which these tests do not read.
        let server = try await SimulationServer.open(for: "pump", at: folder.path("control"))
        await server.add(host.handle, number: 1)
        try await cleaning(server.close) {
            let control = try await SimulationClient(folder.path("control"))
            try await cleaning(control.close) {
                try await cleaning(client.close) {
                    _ = try await reached.wait(for: "the client") { $0.visits > 0 ? true : nil }
                    try await body(
                        CarriedDevice(
                            client: client, control: control, folder: folder, reached: reached, said: voice.count))
                }
            }
        }
    }

    /// Runs `body` and then `clean`, also if `body` throws.
    private static func cleaning(_ clean: () async -> Void, _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            await clean()
            throw error
        }
        await clean()
    }
}

/// Counts the bytes that a device sends on one output: a characteristic, or its line if `output` is nil.
private final class Voice: EmissionListener {
    let count = Watched(0)
    private let output: UInt128?

    init(output: UInt128?) { self.output = output }

    var isFull: Bool { false }

    func hears(_ emission: Emission) -> Bool { false }

    func take(_ emissions: [Emission]) -> Int {
        let length = emissions.filter { $0.output == output }.map(\.bytes.count).reduce(0, +)
        count.update { $0 += length }
        return 0
    }
}
