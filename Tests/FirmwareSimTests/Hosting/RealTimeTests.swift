import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Real-time hosting", .timeLimit(.minutes(5)))
struct RealTimeTests {
    /// A host that runs by the test's clock, with one client.
    private struct Bench<Device: SimulatedDevice> {
        let clock = HostClock()
        let host: DeviceHost<Device>
        let client: HostClient
        let running: Task<Void, any Error>

        init(_ device: Device) async throws {
            let host = DeviceHost(device, pace: .realTime(clock))
            self.host = host
            var ends: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            client = HostClient(ends[0])
            await host.attach(DescriptorChannel(taking: ends[1], kind: .socket))
            running = Task { try await host.run() }
            try await sleeper(after: 0)
        }

        /// Waits until the host has begun more than `count` sleeps, for at most a minute.
        private func sleeper(after count: Int) async throws {
            _ = try await clock.sleepsBegun.wait(for: "the host's next sleep", within: .seconds(60)) {
                $0 > count ? true : nil
            }
            await settle()
        }

        /// Sends `text`, and waits until the host has handled it.
        func say(_ text: String) async throws {
            let count = clock.sleepsBegun.state
            try client.say(text)
            try await sleeper(after: count)
        }

        /// Changes the device, and waits until the host has handled the change.
        func change(_ body: @Sendable (inout Device, Duration) -> Void) async throws {
            let count = clock.sleepsBegun.state
            await host.change(body)
            try await sleeper(after: count)
        }

        /// Advances the clock to `instant`, one deadline after the other, so that the host wakes at each of them as it does
        /// with a real clock.
        func run(to instant: Duration) async throws {
            while let next = clock.nextDeadline, next <= instant {
                let count = clock.sleepsBegun.state
                clock.advance(to: next)
                try await sleeper(after: count)
            }
            clock.advance(to: instant)
            await settle()
        }

        func end() async {
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
        }
    }

    private static var pump: PumpFirmware {
        PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34), potentiometer: 716))
    }

    @Test("A pump replies after its loop turn, byte by byte at the line rate")
    func paced() async throws {
        let bench = try await Bench(Self.pump)
        try await bench.say("OFF\n")
        try await bench.run(to: .milliseconds(108))
        #expect(bench.client.heard() == "")
        // The first byte takes ten bits at 9600 baud after a turn of 109 ms.
        try await bench.run(to: .milliseconds(109) + .microseconds(1042))
        #expect(bench.client.heard() == "O")
        try await bench.run(to: .milliseconds(109) + .microseconds(2084))
        #expect(bench.client.heard() == "K")
        try await bench.run(to: .milliseconds(109) + .microseconds(15_000))
        #expect(bench.client.heard() == "\r\nPUMP:OFF\r\n")
        await bench.end()
    }

    @Test("A running pump reports every 5 s")
    func reports() async throws {
        let bench = try await Bench(Self.pump)
        try await bench.say("ON\n")
        try await bench.run(to: .milliseconds(300))
        #expect(bench.client.heard() == printed("OK", "PUMP:ON"))
        try await bench.run(to: .seconds(5))
        #expect(bench.client.heard() == "")
        try await bench.run(to: .milliseconds(5500))
        #expect(bench.client.heard().hasPrefix("STATUS:{State:ON,"))
        await bench.end()
    }

    @Test("A sleeping device catches up before it is changed")
    func livesUpToChanges() async throws {
        let bench = try await Bench(Self.pump)
        try await bench.run(to: .seconds(5))
        let turns = await bench.host.change { pump, _ in pump.turns }
        // Turns take 109 ms each; the last one is still running.
        #expect(turns == 46)
        await bench.end()
    }

    @Test("Input wakes an idle device")
    func wokenByInput() async throws {
        let bench = try await Bench(Echo())
        try await bench.say("A")
        #expect(bench.client.heard() == "")
        try await bench.run(to: .milliseconds(10))
        #expect(bench.client.heard() == "A")
        try await bench.run(to: .seconds(60))
        try await bench.change { echo, now in echo.receive(Array("B".utf8), at: now) }
        try await bench.run(to: .seconds(61))
        #expect(bench.client.heard() == "B")
        await bench.end()
    }
}

/// A device that echoes each input after 10 ms and does nothing else.
private struct Echo: SimulatedDevice {
    private var pending: [Emission] = []

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        pending.append(Emission(bytes: bytes, time: instant + .milliseconds(10)))
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        let due = pending.filter { $0.time <= instant }
        pending.removeAll { $0.time <= instant }
        return due
    }

    var nextActivity: Duration? { pending.map(\.time).min() }
    var isQuiescent: Bool { pending.isEmpty }
    mutating func reset(at instant: Duration) { pending = [] }
}
