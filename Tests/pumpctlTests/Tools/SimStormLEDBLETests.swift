import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl sim storm and sim led over BLE", .timeLimit(.minutes(5)))
struct SimStormLEDBLETests {
    /// The address of hci1, and of the offered device.
    private static let address = "00:00:5E:00:53:02"
    // The characteristics of a sensor, and of an LED board.
    private static let live = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"
    private static let backup = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
    private static let led = "957312E0-2354-11EB-9F10-FBC30A62CF38"

    /// Offers a device on hci1, connects a central on hci0 to it, and calls `body`. Expects that the device is
    /// withdrawn when the simulator ends.
    private func offer(
        _ arguments: String..., as name: String, mtu: Int = 517,
        _ body: (BLEBench, TestCentral) async throws -> Void
    ) async throws {
        try await withBLEBench { bench in
            let adapter = await bench.fake.addAdapter("hci1", address: Self.address)
            await Radio.run { adapter.ownRadio.manners.mtu = mtu }
            let sim = try await Pumpctl.start(
                ["sim"] + arguments + ["--ble", "--adapter", "hci1"], environment: bench.environment)
            #expect(try await sim.output.line() == "BLE \(name) on hci1 (\(Self.address))")
            let central = try await TestCentral(on: bench.bus.address, for: Self.address)
            #expect(try await central.find() == name)
            try await central.connect()
            try await body(bench, central)
            sim.send(signal: SIGTERM)
            #expect(try await sim.ending().status == 143)
            #expect(await !adapter.ownRadio.isAdvertising)
            await central.close()
        }
    }

    /// The text of the rows with these numbers in the log of a sensor with the seed 7.
    private static func log(_ rows: Range<Int>) -> String {
        String(decoding: StormLog(seed: 7).text(rows: rows), as: UTF8.self)
    }

    @Test("A sensor sends its log in full packets of the central's MTU", arguments: [23, 517])
    func log(mtu: Int) async throws {
        try await offer(
            "storm", "--seed", "7", "--rows", "300", "--interval", "off", "--unpaced", as: "storm", mtu: mtu
        ) { _, central in
            #expect(try await central.flags(Self.live) == ["notify"])
            #expect(try await central.flags(Self.backup).sorted() == ["notify", "write"])
            try await central.subscribe(Self.backup)
            try await central.write(Array("GET_LOG".utf8), to: Self.backup)
            let expected = Array("LOG Values: ".utf8) + StormLog(seed: 7).text(rows: 0..<300)
            let packets = try await central.hears(expected.count, of: Self.backup)
            #expect(Array(packets.joined()) == expected)
            for packet in packets.dropLast() { #expect(packet.count == min(mtu - 3, 512)) }
        }
    }

    @Test("A sensor notifies its measurements on both characteristics")
    func live() async throws {
        try await offer("storm", "--seed", "7", "--rows", "0", "--interval", "0.3", "--name", "Pipe 7", as: "Pipe 7") {
            _, central in
            try await central.subscribe(Self.live)
            try await central.subscribe(Self.backup)
            let raw = try await central.hears(50, of: Self.live).map { String(decoding: $0, as: UTF8.self) }
            #expect(raw.count > 1 && Self.log(0..<100).contains(raw.joined(separator: "\n") + "\n"))
            let prefixed = try await central.hears(50, of: Self.backup).map { String(decoding: $0, as: UTF8.self) }
            #expect(prefixed.allSatisfy { $0.hasPrefix("LIVE LOG: ") && !$0.hasSuffix("\n") })
        }
    }

    @Test("A board keeps its value between centrals and notifies changes")
    func board() async throws {
        try await offer("led", "--lit", as: "ece196") { _, central in
            #expect(try await central.flags(Self.led).sorted() == ["notify", "read", "write"])
            try await central.subscribe(Self.led)
            try await central.write([0], to: Self.led)
            #expect(try await central.hears(1, of: Self.led) == [[0]])
            try await central.write([0xFF], to: Self.led)
            try await central.disconnect()
            try await central.isHungUpOn()
            try await central.connect()
            #expect(try await central.read(Self.led) == [1])
        }
    }

    @Test("A mute board does not notify")
    func mute() async throws {
        try await offer("led", "--mute", "--name", "Lamp", as: "Lamp") { _, central in
            #expect(try await central.flags(Self.led).sorted() == ["read", "write"])
            try await central.write([1], to: Self.led)
            #expect(try await central.read(Self.led) == [1])
        }
    }

    @Test("pumpctl reads a simulated sensor and a simulated board over BLE")
    func bothEnds() async throws {
        try await offer(
            "storm", "--seed", "7", "--rows", "2000", "--interval", "off", "--unpaced", as: "storm"
        ) { bench, central in
            try await central.disconnect()
            try await central.isHungUpOn()
            let ending = try await bench.run("-p", "ble:storm?adapter=hci0", "storm", "log", "get", "--quiet", "2s")
            #expect(ending.output == Self.log(0..<2000), "\(ending.status) \(ending.errors)")
        }
        try await offer("led", as: "ece196") { bench, central in
            try await central.disconnect()
            try await central.isHungUpOn()
            for (command, isOn) in [("on", true), ("get", true), ("toggle", false), ("get", false)] {
                let ending = try await bench.run("-p", "ble:ece196?adapter=hci0", "led", command)
                #expect(ending.output == "led \(isOn ? "on" : "off")\n", "\(ending)")
            }
        }
    }

    @Test("A log cut off by the end of the simulator is reported as incomplete")
    func killed() async throws {
        try await withBLEBench { bench in
            let adapter = await bench.fake.addAdapter("hci1", address: Self.address)
            await Radio.run { adapter.ownRadio.manners.mtu = 517 }
            let sim = try await bench.start(
                "sim", "storm", "--seed", "7", "--rows", "100000", "--interval", "off", "--ble", "--adapter", "hci1")
            _ = try await sim.output.line("the sensor on the air")
            let program = try await bench.start(
                "-p", "ble:storm?adapter=hci0", "-v", "storm", "log", "get", "--quiet", "1000s")
            for _ in 0..<40 { try await program.errors.text(upTo: "< ") }
            sim.send(signal: SIGKILL)
            let ending = try await program.ending()
            expectFailure(ending, 74, saying: "the log is incomplete", "the device is gone")
            #expect(Self.log(0..<100_000).hasPrefix(ending.output) && !ending.output.isEmpty)
        }
    }

    @Test(
        "sim storm and sim led refuse conflicting options",
        arguments: ["storm", "led"],
        [
            ["--ble", "--pty"], ["--ble", "--tcp", "0"], ["--ble", "--baud", "9600"], ["--adapter", "hci1"],
            ["--name", "x"],
        ]
    )
    func wrongOptions(family: String, options: [String]) async throws {
        expectFailure(
            try await Pumpctl.start(["sim", family] + options).ending(), 64, saying: "pumpctl: ",
            hint: "pumpctl sim \(family)")
    }

    @Test("Devices over BLE are controlled by the socket that --wait prints")
    func control() async throws {
        try await withBLEBench { bench in
            let adapter = await bench.fake.addAdapter("hci1", address: Self.address)
            let ready = try await bench.run(
                "sim", "storm", "--rows", "0", "--interval", "off", "--ble", "--adapter", "hci1", "--wait"
            ).object()
            #expect(ready["port"] as? String == "ble:\(Self.address)")
            #expect(ready["name"] as? String == "storm")
            let control = try #require(ready["control"] as? String)
            let central = try await TestCentral(on: bench.bus.address, for: Self.address)
            #expect(try await central.find() == "storm")
            try await central.connect()
            try await central.subscribe(Self.live)
            #expect(try await Pumpctl.run("sim", "ctl", control, "measure").output == "centrals: 1\nrows: 1\n")
            #expect(try await central.hears(1, of: Self.live).count == 1)
            #expect(try await Pumpctl.run("sim", "ctl", control, "set", "interval", "100ms").status == 0)
            #expect(try await central.hears(20, of: Self.live).count > 1)
            let watch = try FolderWatch(String(control.prefix(upTo: control.lastIndex(of: "/") ?? control.endIndex)))
            #expect(try await Pumpctl.run("sim", "ctl", control, "stop").status == 0)
            try await watch.wait(for: "the end of the simulator") { access(control, F_OK) != 0 ? () : nil }
            #expect(await !adapter.ownRadio.isAdvertising)
            await central.close()
        }
        let folder = TemporaryFolder()
        let control = folder.path("control")
        try await offer("led", "--control", control, as: "ece196") { _, central in
            try await central.subscribe(Self.led)
            #expect(try await Pumpctl.run("sim", "ctl", control, "light", "on").output == "lit: true\n")
            #expect(try await central.hears(1, of: Self.led) == [[1]])
            #expect(try await Pumpctl.run("sim", "ctl", control, "set", "mute", "on").status == 0)
            #expect(try await Pumpctl.run("sim", "ctl", control, "light", "off").status == 0)
            #expect(try await central.read(Self.led) == [0])
        }
    }
}
