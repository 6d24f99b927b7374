import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Rescue phones over BLE", .timeLimit(.minutes(5)))
struct RescueBLETests {
    /// The simulated phone, as another program finds it by the first adapter.
    private static let port = "ble:Rescue?adapter=hci0"

    /// Calls `body` with a bench that offers a simulated phone.
    private func withPhone(
        _ options: String..., mtu: Int = 517, _ body: (RadioBench) async throws -> Void
    ) async throws {
        try await withRadioBench(mtu: mtu) { bench in
            let sim = try await bench.start(["sim", "rescue", "--ble", "--adapter", "hci1", "--seed", "7"] + options)
            #expect(try await sim.output.line() == "BLE Rescue on hci1 (\(RadioBench.second))")
            try await body(bench)
            sim.send(signal: SIGTERM)
            #expect(try await sim.ending().status == 143)
        }
    }

    @Test("listen receives every message in packets of any size, and reports malformed ones", arguments: [517, 23])
    func listen(mtu: Int) async throws {
        try await withPhone("--messages", "20", "--interval", "0", "--malformed", "50", mtu: mtu) { bench in
            let folder = TemporaryFolder()
            let ending = try await bench.run(
                "-p", Self.port, "--json", "rescue", "listen", "--count", "20", in: folder)
            #expect(ending.status == 0, "\(ending)")
            let ids = try ending.objects().compactMap { $0["id"] as? String }
            #expect(ids == (0..<20).map { PhoneStock(seed: 7).message($0).id.uuidString })
            #expect(ending.output.contains("\"malformed\""))
        }
    }

    @Test("send and sync work with messages longer than a packet or a write", arguments: [517, 23])
    func send(mtu: Int) async throws {
        try await withPhone("--messages", "0", mtu: mtu) { bench in
            let folder = TemporaryFolder()
            let text = "\"\u{1B}[2J\" 🌊" + String(repeating: "x", count: 600)
            let sent = try await bench.run(
                "-p", Self.port, "--json", "rescue", "send", "--category", "SOS", "--at", "1,2", text, in: folder)
            #expect(try sent.objects().last?["status"] as? String == "synced", "\(sent)")
            _ = try await bench.run("rescue", "send", "--later", "--at", "1,2", text, in: folder)
            #expect(
                try await bench.run("-p", "ble:*", "rescue", "sync", in: folder).output == "1 message sent\n")
            #expect(try await bench.run("-p", Self.port, "rescue", "sync", in: folder).output == "0 messages sent\n")
        }
    }

    @Test("listen waits for a phone that was away, and receives its further messages")
    func back() async throws {
        try await withPhone("--messages", "1000", "--interval", "20ms") { bench in
            let folder = TemporaryFolder()
            let listening = try await bench.start(["-p", Self.port, "rescue", "listen"], in: folder)
            _ = try await listening.output.line("a message")
            await bench.adapters[1].ownRadio.dropLinks()
            try await listening.errors.text(upTo: "waiting for the device")
            listening.output.update { $0.bytes = [] }
            try await listening.errors.text(upTo: "is back")
            _ = try await listening.output.line("another message")
            listening.send(signal: SIGINT)
            #expect(try await listening.ending().status == 130)
            let list = try await bench.run("--json", "rescue", "list", in: folder)
            #expect(try !list.objects().isEmpty)
        }
    }

    @Test("An unsent message is stored as pending")
    func nobody() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            let ending = try await bench.run(
                "-p", "ble:Rescue?adapter=hci9", "--json", "rescue", "send", "--at", "1,2", "x", in: folder)
            expectFailure(ending, 66, saying: "Bluetooth adapter not found", hint: "rescue sync")
            #expect(try ending.object()["outcome"] as? String == "pending_sync")
        }
    }
}
