import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

/// Bytes from a seed, at all shares of all families.
@Suite("Bytes from anybody at a share", .timeLimit(.minutes(240)))
struct ShareFuzzTests {
    /// What the families' devices understand, and what lies beside it.
    private static let pieces: [[UInt8]] = [
        "ON\n", "OFF\n", "off \r\n", "SPEED:", "200", "STATUS\n", "TEMP\r", "\r\n", "\n", "\n\n", "DUMP\n", "STOP\n",
        "LIVE\n",
        "GET\n", "get_image\n", "HELLO from A @ 1\n", "BRIGHT:", "COLOR:", "{\"id\":\"", "{\"content\":\"\\u00", "}",
        "\"", "[",
        "\u{0}", "\u{FFFD}", String(repeating: "X", count: 80), "\u{1B}[31m", "ERROR:X\r\n", "OK\r\nPUMP:ON\r\n",
    ].map { Array($0.utf8) }

    /// Some bytes, of which a line end is one of 40 or so.
    private static func bytes(_ count: Int, by random: inout SplitMix64) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            switch random.number(below: 8) {
            case 0: bytes += pieces[random.number(below: pieces.count)]
            case 1: bytes += (0..<random.number(below: 200)).map { _ in UInt8(random.number(below: 256)) }
            case 2: bytes.append(UInt8(random.number(below: 256)))
            default: bytes += (0..<random.number(below: 40)).map { _ in UInt8(0x20 + random.number(below: 95)) }
            }
        }
        return bytes
    }

    /// How many bytes a client sends before it leaves.
    private static let visit = 8192

    /// Sends bytes of each seed to a device, by clients that say their last word in the middle of something.
    private static func attack<Device: SimulatedDevice>(_ family: Family, _ firmware: Device) async throws {
        for seed in Seeds(1, soak: 300) { try await attack(family, firmware, seed) }
    }

    private static func attack<Device: SimulatedDevice>(
        _ family: Family, _ firmware: Device, _ seed: UInt64
    ) async throws {
        try await SharedBench.run(family, firmware) { bench, _ in
            let share = try await SocketShare.open(bench.device, at: .tcp(host: "127.0.0.1", port: 0))
            let folder = TemporaryFolder()
            let terminal = try await TerminalShare.open(bench.device, link: folder.path("pty"))
            let bystander = try await bench.client()
            let told = Watched(ReceivedText())
            await bystander.channel.gather(into: told)
            let time = Task { [clock = bench.clock] in
                while !Task.isCancelled {
                    await settle()
                    clock.advance(by: .seconds(1))
                }
            }
            var random = SplitMix64(seed: seed)
            var left = 30_000
            var number = 0
            while left > 0 {
                let bytes = bytes(min(left, visit), by: &random)
                left -= bytes.count
                number += 1
                if number.isMultiple(of: 3) {
                    try await send(bytes, atTerminal: terminal.path)
                } else {
                    let port = try #require(share.port)
                    try await send(bytes, at: .tcp(host: "127.0.0.1", port: port))
                }
                let lines = bench.reports.update { events in
                    defer { events = [] }
                    return events.compactMap { if case .sends(let line, _) = $0 { line } else { nil } }
                }
                #expect(family == .rescue || !lines.contains { $0.contains(0x0A) }, "seed \(seed)")
                told.update { $0.bytes = [] }
            }
            // What they have left behind: nobody, and a device that is there.
            for _ in 0..<1000 where await bench.device.clients.count > 1 { await settle() }
            #expect(await bench.device.clients.count == 1)
            #expect(await bench.device.isUp)
            #expect(!told.state.hasEnded)
            time.cancel()
            await time.value
            await terminal.close()
            await share.close()
        }
    }

    /// Sends bytes, and waits until the share has hung up.
    private static func send(_ bytes: [UInt8], at address: SocketAddress) async throws {
        let client = LineClientEnd(
            try await DescriptorChannel.connect(to: address, deadline: .now + patience))
        // Whoever is dropped in between can't send the rest.
        try? await client.channel.write(bytes)
        await client.sayNoMore()
        while (try? await client.channel.read()) ?? nil != nil {}
        await client.leave()
    }

    private static func send(_ bytes: [UInt8], atTerminal path: String) async throws {
        let channel = try LineClientEnd(atTerminal: path).channel
        await channel.gather(into: Watched(ReceivedText()))
        try await channel.write(bytes)
        await channel.close()
    }

    @Test("harms no pump")
    func pump() async throws { try await Self.attack(.pump, PumpFirmware()) }

    @Test("harms no LED controller")
    func led() async throws { try await Self.attack(.led, LEDFirmware()) }

    @Test("harms no storm logger")
    func storm() async throws { try await Self.attack(.storm, StormFirmware()) }

    @Test("harms no peer")
    func peer() async throws {
        try await Self.attack(
            .peer, PeerFirmware(options: PeerFirmwareOptions(carrier: .line(.unlimited), imageByteCount: 1000)))
    }

    @Test("harms no rescue phone")
    func rescue() async throws {
        try await Self.attack(
            .rescue, RescueFirmware(options: RescueFirmwareOptions(carrier: .line(.unlimited), messages: 1)))
    }
}
