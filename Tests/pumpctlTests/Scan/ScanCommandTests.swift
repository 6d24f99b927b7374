import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl scan") struct ScanCommandTests {
    // The addresses of the devices.
    private static let pump = "00:15:83:00:00:10"
    private static let twin = "00:15:83:00:00:11"
    private static let storm = "30:AE:A4:00:00:01"
    private static let nameless = "C0:FF:EE:00:00:01"

    /// Adds two HM-10 modules with the same name, a device with the service of a storm sensor, which other devices that
    /// are made from the same ESP32 example have too, and a device without a name.
    private func fill(_ bench: BLEBench) async {
        await bench.add(Self.twin, name: "HMSoft", services: ["FFE0"], strength: -80)
        await bench.add(Self.pump, name: "HMSoft", services: ["FFE0"], strength: -40)
        await bench.add(
            Self.storm, name: "Storm", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"], strength: -60)
        await bench.add(Self.nameless, strength: -70)
    }

    @Test func `A timed scan prints a table at the end, the strongest signal first`() async throws {
        try await withBLEBench { bench in
            await fill(bench)
            let ending = try await bench.run("scan", "--for", "2s")
            #expect(ending.status == 0, "\(ending)")
            #expect(
                ending.output.split(separator: "\n") == [
                    "NAME    ADDRESS            SIGNAL   FAMILY  SERVICES",
                    "HMSoft  00:15:83:00:00:10  -40 dBm  pump?   HM-10 serial",
                    "Storm   30:AE:A4:00:00:01  -60 dBm  storm?  ESP32 example",
                    "-       C0:FF:EE:00:00:01  -70 dBm  -       -",
                    "HMSoft  00:15:83:00:00:11  -80 dBm  pump?   HM-10 serial",
                ])
            #expect(
                ending.errors == """
                    pump?: pump, or another device behind an HM-10
                    storm?: storm, or another device with the same service

                    """)
            #expect(await !bench.adapter.isDiscovering)
        }
    }

    @Test func `--name and --rssi filter the devices`() async throws {
        try await withBLEBench { bench in
            await fill(bench)
            let near = try await bench.run("scan", "--for", "2s", "--json", "--name", "soft", "--rssi", "-70").objects()
            #expect(near.map { $0["address"] as? String } == [Self.pump])
            let none = try await bench.run("scan", "--for", "2s", "--name", "Soft*")
            #expect(none.status == 0 && none.output == "")
            #expect(none.errors.hasPrefix("no such BLE device in range"))
            expectFailure(try await bench.run("scan", "--rssi", "70"), 64, saying: "--rssi must be from -127 to 20")
        }
    }

    @Test func `--json prints one object per device with every key`() async throws {
        try await withBLEBench { bench in
            await fill(bench)
            let objects = try await bench.run("scan", "--for", "2s", "--json").objects()
            let keys: Set = [
                "address", "name", "rssi_dbm", "services", "family", "possible_family", "possible_families",
                "connected",
            ]
            for object in objects { #expect(Set(object.allKeys as? [String] ?? []) == keys) }
            #expect(objects.map { $0["address"] as? String } == [Self.pump, Self.storm, Self.nameless, Self.twin])
            #expect(objects.map { $0["rssi_dbm"] as? Int } == [-40, -60, -70, -80])
            #expect(objects.map { $0["family"] as? String } == [nil, nil, nil, nil])
            #expect(objects.map { $0["possible_family"] as? String } == ["pump", "storm", nil, "pump"])
            #expect(objects.map { $0["possible_families"] as? [String] } == [["pump"], ["storm"], [], ["pump"]])
            #expect(objects.map { $0["name"] as? String } == ["HMSoft", "Storm", nil, "HMSoft"])
            #expect(objects[0]["services"] as? [String] == ["FFE0"])
            #expect(objects[0]["connected"] as? Bool == false)
        }
    }

    @Test func `--family filters devices, even if another program scans for all`() async throws {
        try await withBLEBench { bench in
            await fill(bench)
            let other = try await bench.start("scan", "--watch", "--json")
            for _ in 0..<4 { _ = try await other.output.line() }
            let objects = try await bench.run("scan", "--for", "2s", "--json", "--family", "storm").objects()
            #expect(objects.map { $0["address"] as? String } == [Self.storm])
            other.send(signal: SIGINT)
            #expect(try await other.ending().status == 130)
        }
    }

    @Test func `A connected device is shown with its confirmed family`() async throws {
        try await withBLEBench { bench in
            await Self.addConnectedSensor(bench.fake, isMarked: true)
            let program = try await bench.start("scan", "--watch", "--json", "--family", "storm")
            var device = try Self.object(await program.output.line())
            while device["family"] is NSNull { device = try Self.object(await program.output.line()) }
            #expect(device["family"] as? String == "storm")
            #expect(device["possible_family"] is NSNull)
            #expect(device["possible_families"] as? [String] == [])
            #expect(device["connected"] as? Bool == true)
            #expect(device["rssi_dbm"] is NSNull)
            program.send(signal: SIGTERM)
            #expect(try await program.ending().status == 143)
        }
    }

    @Test func `A connected device of another kind is not listed under the family of its service`() async throws {
        try await withBLEBench { bench in
            await Self.addConnectedSensor(bench.fake, isMarked: false)
            let ending = try await bench.run("scan", "--for", "2s", "--json", "--family", "storm")
            #expect(ending.status == 0)
            #expect(ending.output == "")
            let all = try await bench.run("scan", "--for", "2s", "--json").object()
            #expect(all["family"] is NSNull)
            #expect(all["possible_family"] is NSNull)
        }
    }

    /// Adds a device with the service of a storm sensor that a crashed program has left connected.
    ///
    /// - Parameter isMarked: Whether it also has the characteristic that only a storm sensor has.
    @Radio private static func addConnectedSensor(_ fake: FakeBlueZ, isMarked: Bool) {
        let service = "4FAFC201-1FB5-459E-8FCC-C5C9C331914B"
        let sensor = RadioDevice(storm, Advertisement(name: "Storm", services: [service]))
        let rows = RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.read, .write, .notify])
        let mark = RadioCharacteristic("1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", [.read])
        sensor.services = [RadioService(service, isMarked ? [rows, mark] : [rows])]
        sensor.manners.isConnectedAlready = true
        fake.add(sensor)
    }

    @Test func `--watch prints found, changed and lost devices, and stops scanning at Ctrl-C`() async throws {
        try await withBLEBench { bench in
            let program = try await bench.start("scan", "--watch", "--json")
            try await bench.untilCalled("StartDiscovery")
            let lamp = await bench.add(Self.nameless)
            let found = try Self.object(await program.output.line("found"))
            #expect(found["event"] as? String == "found")
            #expect(found["name"] is NSNull)
            await Self.rename(lamp, to: "Lamp")
            let changed = try Self.object(await program.output.line("changed"))
            #expect(changed["event"] as? String == "changed")
            #expect(changed["name"] as? String == "Lamp")
            #expect(await bench.adapter.isDiscovering)
            // bluetoothd forgets a device that it has not received for 30 s.
            await bench.fake.remove(lamp)
            await bench.clock.untilSomebodySleeps(until: .seconds(30))
            bench.clock.advance(by: .seconds(30))
            var gone = try Self.object(await program.output.line("not heard"))
            // bluetoothd may announce the missing signal strength before it forgets the device.
            while gone["event"] as? String == "changed" {
                #expect(gone["rssi_dbm"] is NSNull)
                gone = try Self.object(await program.output.line("lost"))
            }
            #expect(gone["event"] as? String == "lost")
            #expect(gone["name"] as? String == "Lamp")
            program.send(signal: SIGINT)
            #expect(try await program.ending().status == 130)
            try await bench.untilCalled("StopDiscovery")
            #expect(await !bench.adapter.isDiscovering)
        }
    }

    @Radio private static func rename(_ device: RadioDevice, to name: String) { device.advertisement.name = name }

    /// Parses a line of JSON.
    private static func object(_ line: String) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary, "\(line)")
    }

    @Test func `A scan without devices succeeds with a note`() async throws {
        try await withBLEBench { bench in
            let ending = try await bench.run("scan", "--for", "2s")
            #expect(ending.status == 0)
            #expect(ending.output == "")
            #expect(ending.errors.contains("no BLE device in range"))
        }
    }

    @Test func `Names are printed with their control characters escaped, also as JSON`() async throws {
        try await withBLEBench { bench in
            let name = "\u{1B}]0;pwned\u{7}\u{9B}2J\u{202E}"
            await bench.add(Self.nameless, name: name)
            for json in [false, true] {
                let program = try await Pumpctl.start(
                    ["scan", "--watch"] + (json ? ["--json"] : []), environment: bench.environment)
                let line = try await program.output.line()
                for scalar in line.unicodeScalars { #expect(scalar.isPrintable) }
                if json { #expect(try Self.object(line)["name"] as? String == name) }
                program.send(signal: SIGINT)
                try await program.ending()
            }
        }
    }

    // MARK: Obstacles

    @Test func `A missing bus, bluetoothd or adapter, and a switched-off adapter are reported`() async throws {
        let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/proc/nowhere"]
        expectFailure(
            try await Pumpctl.run("scan", environment: nowhere), 69,
            saying: "the system bus can't be reached (Failed to connect to socket /proc/nowhere",
            hint: "unset DBUS_SYSTEM_BUS_ADDRESS")
        let empty = try await PrivateBus()
        expectFailure(
            try await Pumpctl.run("scan", environment: ["DBUS_SYSTEM_BUS_ADDRESS": empty.address]), 69,
            saying: "bluetoothd is not running", hint: "sudo systemctl start bluetooth")
        try await Self.expectNoStart("scan")
        try await withBLEBench { bench in
            expectFailure(
                try await bench.run("scan", "--adapter", "hci7"), 66, saying: "adapter not found", hint: "hci0")
            await Self.switchOff(bench.adapter)
            expectFailure(try await bench.run("scan"), 69, saying: "off", hint: "bluetoothctl power on")
            await bench.fake.remove(bench.adapter)
            let ending = try await bench.run("scan", "--json")
            expectFailure(ending, 66, saying: "Bluetooth adapter not found", hint: "plug an adapter in")
            // Without a scan there must be no note such as "no BLE device in range".
            #expect(!ending.errors.contains("in range"), "\(ending.errors)")
            #expect(try ending.object()["error"] as? String == "no_adapter")
        }
    }

    /// Runs `pumpctl` on a bus that fails to start bluetoothd, and expects an error with this cause.
    static func expectNoStart(_ arguments: String..., location: SourceLocation = #_sourceLocation) async throws {
        let bus = try await PrivateBus(failing: "org.bluez")
        let ending = try await Pumpctl.start(arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]).ending()
        expectFailure(
            ending, 69, saying: "bluetoothd failed to start: Process org.bluez exited with status 1",
            hint: "start bluetoothd: sudo systemctl start bluetooth", location)
        #expect(!ending.errors.contains("refused"), "\(ending.errors)", sourceLocation: location)
    }

    @Radio private static func switchOff(_ adapter: FakeAdapter) { adapter.isPowered = false }

    @Test func `--watch continues after a restart of bluetoothd and an adapter that was off`() async throws {
        try await withBLEBench { bench in
            await bench.add(Self.pump, name: "HMSoft", services: ["FFE0"])
            let program = try await bench.start("scan", "--watch", "--json")
            try await Self.untilEvent("found", program)
            try await bench.fake.restart()
            try await Self.untilEvent("lost", program)
            try await Self.untilEvent("found", program)
            await Self.switchOff(bench.adapter)
            try await Self.untilEvent("lost", program)
            try await program.errors.text(upTo: "the Bluetooth adapter is off")
            await Self.switchOn(bench.adapter)
            try await Self.untilEvent("found", program)
            program.send(signal: SIGINT)
            #expect(try await program.ending().status == 130)
        }
    }

    @Test func `--watch continues after a restart of the bus`() async throws {
        try await withBLEBench { bench in
            await bench.add(Self.pump, name: "HMSoft", services: ["FFE0"])
            let program = try await bench.start("scan", "--watch", "--json")
            try await Self.untilEvent("found", program)
            try await bench.bus.restart {
                try await Self.untilEvent("lost", program)
                try await program.errors.text(
                    upTo: "pumpctl: the system bus has gone; waiting until Bluetooth is back\n")
            }
            try await bench.fake.restart()
            try await Self.untilEvent("found", program)
            program.send(signal: SIGINT)
            #expect(try await program.ending().status == 130)
        }
    }

    @Radio private static func switchOn(_ adapter: FakeAdapter) { adapter.isPowered = true }

    /// Waits until a program that runs with `--json` prints an object with this event.
    private static func untilEvent(_ event: String, _ program: ChildProcess) async throws {
        while try await object(program.output.line(event))["event"] as? String != event {}
    }

    @Test func `A timed scan ends with an error when bluetoothd stops`() async throws {
        try await withBLEBench { bench in
            let program = try await bench.start("scan", "--for", "1h", "--json")
            try await bench.untilCalled("StartDiscovery")
            await bench.fake.stop()
            let ending = try await program.ending()
            #expect([66, 69].contains(ending.status), "\(ending)")
        }
    }

    @Test func `--adapter selects the adapter that scans`() async throws {
        try await withBLEBench { bench in
            let second = await bench.fake.addAdapter("hci1", address: "00:00:5E:00:53:02")
            let program = try await bench.start("scan", "--watch", "--json", "--adapter", "hci1")
            try await bench.untilCalled("StartDiscovery")
            #expect(await second.isDiscovering)
            #expect(await !bench.adapter.isDiscovering)
            program.send(signal: SIGINT)
            try await program.ending()
        }
    }

    // MARK: On a terminal

    @Test func `On a terminal the table is redrawn in place and remains at the end`() async throws {
        try await withBLEBench { bench in
            await fill(bench)
            let terminal = try ConsoleTerminal(columns: 40)
            let home = ConsoleFolder()
            let program = try ConsoleProgram(
                ["scan", "--watch"], home: home, on: terminal, environment: bench.environment)
            try await terminal.wait(program) {
                $0.rows == [
                    "NAME    ADDRESS            SIGNAL", "HMSoft  00:15:83:00:00:10  -40 dBm",
                    "Storm   30:AE:A4:00:00:01  -60 dBm", "-       C0:FF:EE:00:00:01  -70 dBm",
                    "HMSoft  00:15:83:00:00:11  -80 dBm", "",
                ]
            }
            await bench.add("C0:FF:EE:00:00:02", name: "A lamp", strength: -30)
            try await terminal.wait(program) { $0.rows.count == 7 && $0.rows[1].hasPrefix("A lamp  ") }
            program.signal(SIGINT)
            #expect(try await program.exitStatus() == 130)
            #expect(terminal.screen.rows.count == 7)
            #expect(terminal.isAsItWas)
        }
    }
}
