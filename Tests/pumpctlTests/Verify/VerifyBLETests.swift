import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl verify over BLE", .timeLimit(.minutes(5)))
struct VerifyBLETests {
    /// Runs `pumpctl verify` on a device that `pumpctl sim` offers over BLE, with its control socket as the stimulus.
    ///
    /// - Parameters:
    ///   - simulator: The device and its options for `pumpctl sim`.
    ///   - name: The BLE name of the device.
    ///   - mtu: The MTU of the connection. A notification has at most `mtu - 3` bytes.
    ///   - body: Receives the program's ending and its JSON objects.
    private func verify(
        _ simulator: [String], as name: String, mtu: Int = 517, _ options: [String] = [],
        _ body: (ChildProcess.Ending, [NSDictionary]) throws -> Void
    ) async throws {
        try await withRadioBench(mtu: mtu) { bench in
            let folder = TemporaryFolder()
            let control = folder.path("control")
            let sim = try await bench.start(
                ["sim"] + simulator + ["--ble", "--adapter", "hci1", "--control", control])
            _ = try await sim.output.line("the device on the air")
            let ending = try await bench.start(
                ["-p", "ble:\(name)?adapter=hci0", "--family", simulator[0], "--json", "verify", "--stimulus", control]
                    + options
            ).ending()
            try body(ending, ending.objects() as [NSDictionary])
            sim.send(signal: SIGTERM)
            _ = try await sim.ending()
        }
    }

    /// The checks that had this outcome.
    private static func outcomes(_ objects: [NSDictionary], _ outcome: String) -> [String] {
        objects.filter { $0["outcome"] as? String == outcome }.compactMap { $0["check"] as? String }
    }

    @Test("A pump behind an HM-10 passes with packets of 20 bytes")
    func pump() async throws {
        try await verify(
            ["pump"], as: "HMSoft", mtu: 23,
            [
                "--allow-run", "--only", "pump.status.reply", "pump.status.off-fields", "pump.temp", "pump.line",
                "pump.command", "pump.speed.percent", "pump.button",
            ]
        ) { ending, objects in
            #expect(ending.status == 0, "\(ending)")
            #expect(Self.outcomes(objects, "passed").count == 23)
            #expect(Self.outcomes(objects, "skipped").isEmpty)
        }
    }

    @Test("A running pump is refused, and sent nothing but STATUS")
    func runningPump() async throws {
        try await withRadioBench(mtu: 23) { bench in
            let folder = TemporaryFolder()
            let control = folder.path("control")
            let sim = try await bench.start([
                "sim", "pump", "--ble", "--adapter", "hci1", "--control", control,
            ])
            _ = try await sim.output.line("the pump on the air")
            #expect(try await Pumpctl.run("sim", "ctl", control, "press").status == 0)
            #expect(try await Pumpctl.run("sim", "ctl", control, "advance", "1s").output.contains("state: on"))
            let ending = try await bench.start(["-p", "ble:HMSoft?adapter=hci0", "-v", "verify", "--allow-run"])
                .ending()
            expectFailure(ending, 69, saying: "the pump is running", hint: "pumpctl off")
            let sent = ending.errors.split(separator: "\n").filter { $0.contains("> ") }
            #expect(!sent.isEmpty && sent.allSatisfy { $0.contains("STATUS") }, "\(sent)")
            #expect(try await Pumpctl.run("sim", "ctl", control, "state").output.contains("state: on"))
            sim.send(signal: SIGTERM)
            _ = try await sim.ending()
        }
    }

    @Test("An LED board passes with and without notifications", arguments: [[], ["--mute"]])
    func led(options: [String]) async throws {
        try await verify(["led", "--lit"] + options, as: "ece196", mtu: 23) { ending, objects in
            #expect(ending.status == 0, "\(ending)")
            #expect(Self.outcomes(objects, "passed").count == 6)
        }
    }

    // The smallest MTU of Bluetooth LE, the largest of bluetoothd, and one in between.
    @Test("A storm sensor passes with notifications of any size", arguments: [23, 185, 517])
    func storm(mtu: Int) async throws {
        try await verify(["storm", "--rows", "40", "--interval", "400ms", "--echo"], as: "storm", mtu: mtu) {
            ending, objects in
            #expect(ending.status == 0, "\(ending)")
            // At an MTU of 23, a notification has no room for a whole live row after its prefix.
            #expect(Self.outcomes(objects, "skipped") == (mtu == 23 ? ["storm.live.row", "storm.live.once"] : []))
        }
    }

    @Test("A peer passes with one notification per message", arguments: [23, 517])
    func peer(mtu: Int) async throws {
        try await verify(["peer", "--size", "1000"], as: "QDevice1", mtu: mtu, ["--allow-run"]) { ending, objects in
            #expect(ending.status == 0, "\(ending)")
            // At an MTU of 23, the greeting is cut off.
            #expect(Self.outcomes(objects, "skipped") == (mtu == 23 ? ["peer.image.error", "peer.greeting"] : []))
            let sent = objects.compactMap { $0["sent"] as? [String] }.flatMap(\.self)
            #expect(sent.contains("GET") && !sent.contains { $0.contains("\\n") })
        }
    }

    @Test("A rescue phone passes with messages in several notifications", arguments: [23, 517])
    func rescue(mtu: Int) async throws {
        try await verify(["rescue", "--interval", "300ms"], as: "Rescue", mtu: mtu, ["--allow-send"]) {
            ending, objects in
            #expect(ending.status == 0, "\(ending)")
            #expect(Self.outcomes(objects, "passed").count == 19)
        }
    }

    @Test("After a lost link during ON the pump is reported as possibly on")
    func lost() async throws {
        let pump = try await BLEPump()
        let process = try await pump.start(
            "-p", "ble:*", "-v", "verify", "--allow-run", "--only", "pump.on.reply", "pump.unasked")
        try await process.errors.text(upTo: "> ON")
        await pump.fake.switchOff()
        let ending = try await process.ending()
        #expect(ending.status == 74, "\(ending)")
        #expect(ending.errors.contains("the pump may be on"), "\(ending)")
        await pump.fake.stop()
    }
}
