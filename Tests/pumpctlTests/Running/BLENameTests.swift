import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("BLE names on the command line", .timeLimit(.minutes(5)))
struct BLENameTests {
    /// The addresses of the two pumps.
    private static let addresses = ["00:15:83:00:00:10", "00:15:83:00:00:20"]

    /// Simulated pumps that a test brings into reach, and pumpctl with its own state folder.
    private struct Rig {
        let bus: PrivateBus
        let fake: FakeBlueZ
        let home = TemporaryFolder()
        let pumps: [HM10<PumpFirmware>]

        init(
            names: [String] = ["HMSoft", "HMSoft"], addresses: [String] = BLENameTests.addresses,
            addressType: String = "public"
        ) async throws {
            bus = try await PrivateBus()
            fake = try await FakeBlueZ.start(on: bus.address)
            await fake.addAdapter()
            var pumps: [HM10<PumpFirmware>] = []
            for (name, address) in zip(names, addresses) {
                pumps.append(
                    try await HM10(
                        PumpFirmware(), pace: .onDemand, name: name, address: address, addressType: addressType))
            }
            self.pumps = pumps
        }

        /// Brings one pump into reach and removes the others.
        func show(_ number: Int) async {
            for pump in pumps { await fake.remove(pump.radio) }
            await fake.add(pumps[number].radio)
        }

        /// Brings all pumps into reach. The first one has the weakest signal.
        func showAll() async {
            for (index, pump) in pumps.enumerated() {
                await Radio.run { pump.radio.signalStrength = index == 0 ? -80 : -50 }
                await fake.add(pump.radio)
            }
        }

        var environment: [String: String] { bus.environment.merging(["XDG_STATE_HOME": home.path]) { $1 } }

        /// - Parameter home: A value for HOME, with XDG_STATE_HOME empty; nil for the rig's state folder.
        func run(_ arguments: String..., home: String? = nil) async throws -> ChildProcess.Ending {
            var environment = environment
            if let home {
                environment["XDG_STATE_HOME"] = ""
                environment["HOME"] = home
            }
            return try await Pumpctl.start(arguments, environment: environment).ending()
        }

        func start(_ arguments: String...) async throws -> ChildProcess {
            try await Pumpctl.start(arguments, environment: environment)
        }

        /// The pumps' duties; nil for a pump that is off.
        func duties() async -> [Int?] {
            var duties: [Int?] = []
            for pump in pumps {
                duties.append(await pump.host.change { pump, _ in pump.isEnabled ? Int(pump.duty) : nil })
            }
            return duties
        }

        /// The names of the calls by which clients connected to a device or used its characteristics.
        @Radio var calls: [String] {
            let all: Set = ["Connect", "ReadValue", "WriteValue", "StartNotify"]
            return fake.calls.state.map(\.member).filter(all.contains)
        }

        /// The path of the file in which pumpctl remembers names.
        var memory: String { home.path("pumpctl/ble-devices") }

        /// The content of the file at ``memory``; nil if there is none.
        var remembered: String? {
            guard let file = fopen(memory, "re") else { return nil }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 65536)
            return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
        }

        /// The permissions of a file or a folder; nil if there is none.
        func mode(_ path: String) -> mode_t? {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
        }
    }

    // MARK: Several devices with one name

    @Test(
        "A command refuses a name that several devices have, and lists the devices, the strongest signal first",
        arguments: [
            ["off"], ["on"], ["on", "--for", "1s"], ["speed", "100"], ["status"], ["temp"], ["monitor"], ["console"],
            ["send", "STATUS"],
        ])
    func several(command: [String]) async throws {
        let rig = try await Rig()
        await rig.showAll()
        let ending = try await Pumpctl.start(
            ["-p", "ble:HMSoft"] + command, environment: rig.environment
        ).ending()
        expectFailure(
            ending, 66, saying: "ble:HMSoft", "00:15:83:00:00:20 (-50 dBm), 00:15:83:00:00:10 (-80 dBm)",
            hint: "ble:00:15:83:00:00:20")
        #expect(ending.output == "")
        #expect(await rig.calls == [])
        #expect(rig.remembered == nil)
        // `ble:*` means the device with the strongest signal.
        if command == ["off"] { #expect(try await rig.run("-p", "ble:*", "off").status == 0) }
    }

    @Test("A name in other letter case matches if only one device has it, and exact spelling has priority")
    func letterCase() async throws {
        let rig = try await Rig(names: ["HMSoft", "hmsoft"])
        await rig.show(0)
        #expect(try await rig.run("-p", "ble:hmSOFT", "on").output.hasPrefix("pump on"))
        #expect(await rig.duties()[0] != nil)
        await rig.showAll()
        let ambiguous = try await rig.run("-p", "ble:hmSOFT", "off")
        expectFailure(ambiguous, 66, saying: "00:15:83:00:00:20", "00:15:83:00:00:10")
        #expect(try await rig.run("-p", "ble:HMSoft", "off").output == "pump off\n")
        #expect(await rig.duties() == [nil, nil])
    }

    // MARK: Another device with the same name

    @Test(
        "Another device under a remembered name is refused until the name is forgotten"
    )
    func changed() async throws {
        let rig = try await Rig()
        await rig.show(0)
        #expect(try await rig.run("-p", "ble:HMSoft", "on").status == 0)
        #expect(await rig.duties()[0] != nil)
        await rig.show(1)
        let before = await rig.calls.count
        for command in ["off", "status", "on"] {
            let ending = try await rig.run("-p", "ble:HMSoft", command)
            expectFailure(
                ending, 66, saying: "resolved to 00:15:83:00:00:10 before, and resolves to 00:15:83:00:00:20 now",
                hint: "pumpctl forget ble:HMSoft")
            #expect(ending.output == "")
        }
        #expect(await rig.calls.count == before)
        #expect(await rig.duties().map { $0 == nil } == [false, true])
        // The letter case of the remembered name does not matter.
        expectFailure(try await rig.run("-p", "ble:hmsoft", "off"), 66, saying: "resolved to")
        // A device named by its address is used. The address remembered for the name stays the same, so the name is
        // still refused.
        #expect(try await rig.run("-p", "ble:00:15:83:00:00:20", "off").output == "pump off\n")
        expectFailure(try await rig.run("-p", "ble:HMSoft", "off"), 66, saying: "resolved to")
        let forgotten = try await rig.run("forget", "ble:HMSoft")
        #expect(forgotten.status == 0 && forgotten.output == "forgot HMSoft (00:15:83:00:00:10)\n")
        #expect(try await rig.run("-p", "ble:HMSoft", "off").output == "pump off\n")
        #expect(rig.remembered == "00:15:83:00:00:20 HMSoft\n")
    }

    @Test("A remembered name that several devices have now is refused as ambiguous")
    func bothAgain() async throws {
        let rig = try await Rig()
        await rig.show(0)
        #expect(try await rig.run("-p", "ble:HMSoft", "status").status == 0)
        await rig.fake.add(rig.pumps[1].radio)
        expectFailure(try await rig.run("-p", "ble:HMSoft", "off"), 66, saying: Self.addresses[0], Self.addresses[1])
    }

    // MARK: The memory of names

    @Test("Only a device used by its name is remembered, in a file of mode 0600")
    func file() async throws {
        let rig = try await Rig()
        await rig.show(0)
        #expect(try await rig.run("-p", "ble:00:15:83:00:00:10", "status").status == 0)
        #expect(try await rig.run("-p", "ble:*", "status").status == 0)
        #expect(rig.remembered == nil)
        #expect(try await rig.run("-p", "ble:HMSoft?adapter=hci0", "status").status == 0)
        #expect(rig.remembered == "00:15:83:00:00:10 HMSoft\n")
        #expect(rig.mode(rig.memory) == 0o600)
        #expect(rig.mode(rig.home.path("pumpctl")) == 0o700)
    }

    @Test("A static random address is remembered")
    func staticAddress() async throws {
        let rig = try await Rig(addresses: ["C0:15:83:00:00:10"], addressType: "random")
        await rig.show(0)
        #expect(try await rig.run("-p", "ble:HMSoft", "status").status == 0)
        #expect(rig.remembered == "C0:15:83:00:00:10 HMSoft\n")
    }

    // The two kinds of private addresses: resolvable (the highest bits are 01) and non-resolvable (00).
    @Test(
        "A private address is not remembered",
        arguments: [["4A:15:83:00:00:10", "5B:15:83:00:00:20"], ["0A:15:83:00:00:10", "1B:15:83:00:00:20"]])
    func privateAddress(addresses: [String]) async throws {
        let rig = try await Rig(addresses: addresses, addressType: "random")
        for number in 0..<2 {
            await rig.show(number)
            let ending = try await rig.run("-p", "ble:HMSoft", "status")
            #expect(ending.status == 0 && ending.errors == "", "\(ending)")
        }
        #expect(rig.remembered == nil)
    }

    @Test("Remembered addresses are synced to disk before the file is renamed")
    func synchronized() async throws {
        let home = TemporaryFolder()
        try home.makeFolder("pumpctl")
        let path = home.write("00:15:83:00:00:30 Spare\n00:15:83:00:00:31 HMSoft\n", to: "pumpctl/ble-devices")
        let ending = try await Pumpctl.start(
            ["forget", "Spare"],
            environment: [
                "XDG_STATE_HOME": home.path, "LD_PRELOAD": Executable.syncCounter, "SYNC_COUNTER": home.path("calls"),
            ]
        ).ending()
        #expect(ending.status == 0, "\(ending)")
        let calls = try String(contentsOfFile: home.path("calls"), encoding: .utf8).split(separator: "\n")
        #expect(calls.first?.hasPrefix("sync \(path).") == true, "\(calls)")
        #expect(calls.dropFirst() == ["rename \(path)"], "\(calls)")
    }

    @Test("forget removes one name or all, and keeps unknown lines")
    func forget() async throws {
        let rig = try await Rig()
        await rig.show(0)
        _ = rig.home.path
        try rig.home.makeFolder("pumpctl")
        // The name of the last device is `ble:odd`: it only looks like an endpoint.
        _ = rig.home.write(
            "# by hand\n00:15:83:00:00:30 Spare one\n00:15:83:00:00:31 ble:odd\n", to: "pumpctl/ble-devices")
        #expect(try await rig.run("-p", "ble:HMSoft", "status").status == 0)
        let json = try await rig.run("--json", "forget", "spare ONE")
        #expect(json.output == #"{"address":"00:15:83:00:00:30","name":"Spare one"}"# + "\n")
        #expect(rig.remembered == "# by hand\n00:15:83:00:00:31 ble:odd\n00:15:83:00:00:10 HMSoft\n")
        expectFailure(try await rig.run("forget", "Spare one"), 66, saying: "Spare one", hint: "")
        let all = try await rig.run("forget", "--all")
        #expect(all.status == 0 && all.output.split(separator: "\n").count == 2, "\(all)")
        #expect(rig.remembered == "# by hand\n")
        expectFailure(try await rig.run("forget", "--all"), 66, saying: "no device is remembered")
        expectFailure(try await rig.run("forget"), 64, saying: "name", hint: "forget")
        expectFailure(try await rig.run("forget", "--all", "HMSoft"), 64, saying: "--all", hint: "forget")
    }

    @Test("An unusable state folder does not stop a command")
    func unwritable() async throws {
        let rig = try await Rig()
        await rig.show(0)
        let file = rig.home.write("", to: "file")
        let quiet = try await rig.run("-p", "ble:HMSoft", "status", home: file)
        #expect(quiet.status == 0 && quiet.errors == "", "\(quiet)")
        let verbose = try await rig.run("-v", "-p", "ble:HMSoft", "status", home: file)
        #expect(verbose.status == 0 && verbose.errors.contains("\(file)/.local/state/pumpctl"), "\(verbose)")
        // A folder takes the place of the file in which pumpctl remembers names.
        try rig.home.makeFolder("pumpctl")
        try rig.home.makeFolder("pumpctl/ble-devices")
        let folder = try await rig.run("-p", "ble:HMSoft", "status")
        #expect(folder.status == 0 && folder.errors == "", "\(folder)")
    }

    // MARK: Finding a device again

    @Test("A device with a new private address is found again after a lost link", arguments: ["Roamer", "*"])
    func roaming(name: String) async throws {
        let rig = try await Rig(
            names: ["Roamer", "Roamer", "Roamer"],
            addresses: ["4A:15:83:00:00:10", "5B:15:83:00:00:20", "6C:15:83:00:00:30"], addressType: "random")
        await rig.show(0)
        let monitor = try await rig.start("-p", "ble:\(name)", "monitor", "--interval", "0.5", "--json")
        try await monitor.output.text(upTo: #""link":"up""#)
        await rig.fake.remove(rig.pumps[0].radio)
        if name != "*" {
            // With two devices of that name, neither is chosen.
            await rig.fake.add(rig.pumps[1].radio)
            await rig.fake.add(rig.pumps[2].radio)
            try await monitor.errors.text(upTo: "several")
            await rig.fake.remove(rig.pumps[2].radio)
        } else {
            await rig.fake.add(rig.pumps[1].radio)
        }
        try await monitor.output.text(upTo: #""event":"back""#)
        monitor.send(signal: SIGINT)
        let ending = try await monitor.ending()
        // The first "several" was taken above. This is the rest: the problem is not reported again.
        #expect(!ending.errors.contains("several"))
        // One subscription for each of the two links.
        let listeners = await rig.fake.calls.state.count { $0.member == "StartNotify" }
        #expect(listeners == 2)
    }

    @Test("monitor waits for a lost device with a stable address, and uses no other device of its name")
    func waiting() async throws {
        let rig = try await Rig()
        await rig.show(0)
        let monitor = try await rig.start("-p", "ble:HMSoft", "monitor", "--interval", "0.5", "--json")
        try await monitor.output.text(upTo: #""link":"up""#)
        await rig.show(1)
        try await monitor.output.text(upTo: #""event":"lost""#)
        await rig.show(0)
        try await monitor.output.text(upTo: #""event":"back""#)
        monitor.send(signal: SIGINT)
        _ = try await monitor.ending()
        let writes = await rig.fake.calls.state.filter { $0.member == "WriteValue" }
        // The first 37 characters of a characteristic's path are the path of its device.
        let paths = Set(writes.map { $0.path.prefix(37) })
        #expect(paths.count == 1)
    }

    @Test("With ble:*, monitor waits for the lost device, even if one with a stronger signal is in reach")
    func waitingForAny() async throws {
        let rig = try await Rig()
        await rig.show(0)
        let pumps = rig.pumps
        await Radio.run {
            for (pump, strength) in zip(pumps, [-80, -50] as [Int16]) { pump.radio.signalStrength = strength }
        }
        let monitor = try await rig.start("-p", "ble:*", "monitor", "--interval", "0.5", "--json")
        try await monitor.output.text(upTo: #""link":"up""#)
        await rig.show(1)
        try await monitor.output.text(upTo: #""event":"lost""#)
        await rig.fake.add(pumps[0].radio)
        try await monitor.output.text(upTo: #""event":"back""#)
        monitor.send(signal: SIGINT)
        _ = try await monitor.ending()
        let writes = await rig.fake.calls.state.filter { $0.member == "WriteValue" }
        #expect(Set(writes.map { $0.path.prefix(37) }).count == 1)
    }

    @Test("rescue listen connects again to a phone with a new private address")
    func phone() async throws {
        let rig = try await Rig(names: [], addresses: [])
        let (first, second) = await Radio.run {
            let phones = ["4A:15:83:00:00:10", "5B:15:83:00:00:20"].map { address in
                let phone = RadioDevice(
                    address, Advertisement(name: "Rescue", services: ["FFF0"]), addressType: "random")
                phone.services = [RadioService("FFF0", [RadioCharacteristic("FFF1", [.write, .notify])])]
                return phone
            }
            return (phones[0], phones[1])
        }
        await rig.fake.add(first)
        var environment = rig.environment
        environment["XDG_DATA_HOME"] = rig.home.path
        let listening = try await Pumpctl.start(["-v", "-p", "ble:*", "rescue", "listen"], environment: environment)
        try await listening.errors.text(upTo: "(ble:4A:15:83:00:00:10) is connected")
        await rig.fake.remove(first)
        try await listening.errors.text(upTo: "(ble:4A:15:83:00:00:10) has disconnected")
        await rig.fake.add(second)
        try await listening.errors.text(upTo: "(ble:5B:15:83:00:00:20) is connected")
        listening.send(signal: SIGINT)
        _ = try await listening.ending()
    }
}
