import DescriptorIO
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Glibc
import Synchronization
import TestSupport

/// A simulated pump behind an HM-10 on a fake bluetoothd, and programs on that bus. The pump's time advances on demand:
/// see `DeviceHost.Pace.onDemand`.
struct PumpBehindBLE {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let module: HM10<HeardPump>
    /// The text sent to the pump.
    let received: Watched<ReceivedText>
    /// The number of resets of the board.
    let resets: Watched<Int>
    let folder = TemporaryFolder()
    /// A loopback address and a port that no other test uses.
    let tcp: (host: String, port: UInt16)

    /// The module's address. pumpctld connects to an address immediately; for a name, it would first search for other
    /// devices with that name.
    let endpoint = "ble:00:15:83:00:00:10"
    var socketPath: String { folder.path("socket") }
    var terminalPath: String { folder.path("pty") }

    private let strike = Watched<Strike?>(nil)

    /// An event at a packet that is written to the module.
    private struct Strike: Sendable {
        /// The number of packets until the event, with the event's own packet; 0 during the event.
        var rest: Int
        /// Whether the event's own packet reaches the pump.
        var isDelivered: Bool
        var body: @Sendable () -> Void
    }

    private static let count = Atomic(0)

    init() async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address)
        await fake.addAdapter()
        // At 716, the knob stands for the speed at which ON starts, 70 %.
        let options = PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5), potentiometer: 716)
        let pump = HeardPump(PumpFirmware(options: options))
        (received, resets) = (pump.received, pump.resets)
        module = try await HM10(pump, pace: .onDemand)
        await fake.add(module.radio)
        let (id, number) = (getpid(), Self.count.add(1, ordering: .relaxed).newValue)
        tcp = ("127.\(1 + id >> 16 & 0x3F).\(id >> 8 & 0xFF).\(id & 0xFF)", UInt16(4000 + number))
        await watchPackets()
    }

    private var environment: [String: String] {
        var all = ChildProcess.surroundings.merging(bus.environment) { $1 }
        all.merge(["PUMPCTLD_SOCKET": folder.path("control"), "PUMPCTL_RECORD": "0", "NO_COLOR": "1"]) { $1 }
        return all
    }

    /// Starts pumpctld, which shares the pump by TCP, by a socket, by a pseudo-terminal and by its control socket.
    ///
    /// - Parameter idle: The time for which the daemon keeps the link after the last client has left.
    func startDaemon(idle: String = "1h") async throws -> ChildProcess {
        let daemon = try await ChildProcess(
            [
                Executable.pumpctld, "--port", endpoint, "--tcp", "\(tcp.host):\(tcp.port)",
                "--unix", socketPath, "--pty", terminalPath, "--idle", idle, "--verbose",
            ], environment: environment)
        try await daemon.errors.text(upTo: "serving devices=pump")
        return daemon
    }

    /// Starts pumpctl.
    func start(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess([Executable.pumpctl] + arguments, environment: environment)
    }

    /// Runs `pumpctl` at an endpoint. The time-out is long because this machine may be busy: the pump replies at once.
    func run(_ endpoint: String, _ words: String...) async throws -> ChildProcess.Ending {
        try await ChildProcess(
            [Executable.pumpctl, "--port", endpoint, "--timeout", "30"] + words, environment: environment
        ).ending()
    }

    /// Whether the pump is running.
    func isOn() async -> Bool { await module.host.change { pump, _ in pump.isOn } }

    /// Whether bluetoothd has a connection to the module.
    func isConnected() async -> Bool { await Radio.run { !module.radio.links.isEmpty } }

    // MARK: Packets

    /// Counts the packets that bluetoothd writes to the module, and triggers the scheduled event.
    @Radio private func watchPackets() {
        guard let line = module.radio.characteristic("FFE1") else { return }
        let write = line.onWrite
        line.onWrite = { [strike] bytes, request in
            let due = strike.update { strike -> Strike? in
                strike?.rest -= 1
                guard let due = strike, due.rest == 0 else { return nil }
                return due
            }
            if due?.isDelivered != false { try await write?(bytes, request) }
            due?.body()
            // `untilStruckOrEnded` returns only after `body` has run.
            if due != nil { strike.update { $0 = nil } }
        }
    }

    /// Schedules an event for the `number`-th packet from now; 1 is the next packet.
    func atPacket(_ number: Int, isDelivered: Bool, _ body: @escaping @Sendable () -> Void) {
        strike.update { $0 = Strike(rest: number, isDelivered: isDelivered, body: body) }
    }

    /// Triggers the scheduled event now, if it has not happened yet.
    func strikeNow() {
        let due = strike.update { strike -> Strike? in
            guard let due = strike, due.rest > 0 else { return nil }
            strike = nil
            return due
        }
        due?.body()
    }

    /// Cancels the scheduled event, if it has not happened yet.
    func cancelStrike() { strike.update { $0 = nil } }

    /// Waits until the scheduled event has happened or a program has ended, which cancels the event.
    func untilStruckOrEnded(_ program: ChildProcess) async throws {
        let ending = Task { [strike] in
            _ = try? await program.errors.wait(for: "its end") { $0.hasEnded ? true : nil }
            strike.update { $0 = nil }
        }
        defer { ending.cancel() }
        try await strike.wait(for: "the packet") { $0 == nil ? () : nil }
    }

    /// Waits until the pump has received everything written to the module.
    func settle() async {
        await DeviceTestKit.settle(Radio.loop)
        _ = await isOn()
    }
}
