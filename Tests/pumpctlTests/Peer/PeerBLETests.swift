import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Peers over BLE", .timeLimit(.minutes(5)))
struct PeerBLETests {
    /// The simulated peer, as another program finds it by the first adapter.
    private static let port = "ble:QDevice1?adapter=hci0"

    /// Calls `body` with a bench that offers a simulated peer, and with the program `pumpctl sim peer`.
    private func withPeer(
        _ options: String..., mtu: Int = 517, _ body: (RadioBench, ChildProcess) async throws -> Void
    ) async throws {
        try await withRadioBench(mtu: mtu) { bench in
            let sim = try await bench.start(["sim", "peer", "--ble", "--adapter", "hci1"] + options)
            #expect(try await sim.output.line() == "BLE QDevice1 on hci1 (\(RadioBench.second))")
            try await body(bench, sim)
            sim.send(signal: SIGTERM)
            #expect(try await sim.ending().status == 143)
        }
    }

    @Test("say, toggle, image get and listen work over BLE")
    func commands() async throws {
        try await withPeer("--size", "3000", "--seed", "7") { bench, _ in
            let said = try await bench.run("-p", Self.port, "peer", "say", "Grüße")
            #expect(said.output == "sent\n" && said.errors == "", "\(said)")
            #expect(try await bench.run("-p", "ble:*", "peer", "toggle", "on").output == "toggle on\n")
            let folder = TemporaryFolder()
            let path = folder.path("image.png")
            let image = try await bench.run("-p", Self.port, "peer", "image", "get", "-o", path)
            #expect(image.output == "3000 bytes in \(path)\n", "\(image)")
            #expect(
                try Data(contentsOf: URL(filePath: path)) == Data(PeerPicture(seed: 7, byteCount: 3000).bytes))
            let listening = try await bench.run("-p", Self.port, "--json", "peer", "listen", "--count", "1")
            let events = try listening.objects()
            #expect(events.map { $0["event"] as? String } == ["greeting"])
            #expect(events.first?["host"] as? String == "QDevice1")
            #expect((events.first?["host_time"] as? String)?.hasSuffix("Z") == true)
        }
    }

    @Test("A message of up to 510 bytes is accepted even with short packets, and a longer one is refused")
    func long() async throws {
        try await withPeer(mtu: 23) { bench, _ in
            let text = String(repeating: "雨", count: 170)
            let said = try await bench.run("-p", Self.port, "-v", "--json", "peer", "say", text)
            #expect(said.status == 0, "\(said)")
            #expect(try said.object()["characters"] as? Int == 170)
            let refused = try await bench.run("-p", Self.port, "--json", "peer", "say", text + "雨")
            expectFailure(refused, 64, saying: "513 bytes", "510", hint: "send the bytes in parts")
            #expect(try refused.object()["error"] as? String == "too_long")
            #expect(try refused.object()["outcome"] as? String == "not_sent")
        }
    }

    @Test("A faulty image is reported by its code and leaves no file")
    func fault() async throws {
        try await withPeer("--fault", "size_mismatch") { bench, _ in
            let folder = TemporaryFolder()
            let ending = try await bench.run(
                "-p", Self.port, "--json", "peer", "image", "get", "-o", folder.path("image.png"))
            #expect(ending.status == 76, "\(ending)")
            #expect(try ending.object()["error"] as? String == "size_mismatch")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            // The rest of the image, which the peer may still be sending, does not disturb the next program.
            #expect(try await bench.run("-p", Self.port, "peer", "say", "hello").output == "sent\n")
        }
    }

    @Test("An image arrives intact in packets of 20 bytes, and only its name is cut off")
    func smallPackets() async throws {
        try await withPeer("--size", "20000", mtu: 23) { bench, _ in
            let folder = TemporaryFolder()
            let path = folder.path("image.png")
            let image = try await bench.run("-p", Self.port, "--json", "peer", "image", "get", "-o", path)
            #expect(image.status == 0, "\(image)")
            // The line with the name must fit into one notification of 20 bytes: "IMG_BEGIN imag 20000".
            #expect(try image.object()["name"] as? String == "imag")
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(PeerPicture(seed: 1, byteCount: 20000).bytes))
        }
    }

    @Test("listen reconnects to a peer that was away")
    func back() async throws {
        try await withPeer { bench, _ in
            let listening = try await bench.start(["-p", Self.port, "--json", "peer", "listen"])
            _ = try await listening.output.text(upTo: "\"greeting\"")
            await bench.adapters[1].ownRadio.dropLinks()
            _ = try await listening.output.text(upTo: "\"lost\"")
            _ = try await listening.output.text(upTo: "\"back\"")
            _ = try await listening.output.text(upTo: "\"greeting\"")
            listening.send(signal: SIGINT)
            #expect(try await listening.ending().status == 130)
        }
    }

    @Test("--name sets the advertised name and the greeting")
    func name() async throws {
        try await withRadioBench { bench in
            let sim = try await bench.start(["sim", "peer", "--ble", "--adapter", "hci1", "--name", "Bench"])
            #expect(try await sim.output.line().hasPrefix("BLE Bench on hci1"))
            let listening = try await bench.run("-p", "ble:Bench", "peer", "listen", "--count", "1")
            #expect(listening.output.contains("greeting from Bench,"), "\(listening)")
            sim.send(signal: SIGTERM)
            _ = try await sim.ending()
        }
        let cable = try await Pumpctl.run("-p", "sim:peer?name=Bench", "peer", "listen", "--count", "1")
        #expect(cable.status == 0)
        let alone = try await Pumpctl.run("sim", "peer", "--adapter", "hci1")
        expectFailure(alone, 64, saying: "--adapter needs --ble", hint: "pumpctl sim peer")
    }
}
