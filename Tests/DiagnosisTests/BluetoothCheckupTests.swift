import BlueZ
import DBus
import LineProtocol
import TestSupport
import Testing

@testable import Diagnosis

@Suite struct BluetoothCheckupTests {
    private static let on = BluetoothState.Controller(name: "hci0", address: "00:00:5E:00:53:01", isPowered: true)
    private static let off = BluetoothState.Controller(name: "hci1", address: "00:00:5E:00:53:02", isPowered: false)

    private static func state(
        _ daemon: BluetoothState.Daemon = .running, _ adapters: [BluetoothState.Controller] = [on],
        kernel: [String] = ["hci0"], switches: [RadioSwitch] = [], version: BlueZVersion? = BlueZVersion(5, 66)
    ) -> BluetoothState {
        BluetoothState(
            daemon: daemon, adapters: adapters, kernelAdapters: kernel, switches: switches, version: version,
            settings: DaemonSettings("[GATT]\nChannels = 1\n"))
    }

    private func check(_ state: BluetoothState, needed: Bool = true, adapter: String? = nil) -> [Check: Finding] {
        let findings = BluetoothCheckup(state: state, isNeeded: needed, adapter: adapter).findings
        return Dictionary(findings.map { ($0.check, $0) }) { first, _ in first }
    }

    @Test func `A healthy system has only good findings`() {
        let found = BluetoothCheckup(state: Self.state(), isNeeded: true).findings
        #expect(found.allSatisfy { $0.status == .good })
        #expect(found.contains { $0.fact == "BlueZ 5.66; no experimental feature is needed" })
        #expect(found.contains { $0.fact == "the adapter hci0 (00:00:5E:00:53:01) is on" })
    }

    @Test func `An adapter is found by its name, and by its address in any letter case`() {
        for adapter in ["hci0", "00:00:5E:00:53:01", "00:00:5e:00:53:01"] {
            #expect(check(Self.state(), adapter: adapter)[.adapter]?.status == .good, "\(adapter)")
        }
        #expect(check(Self.state(), adapter: "00:00:5e:00:53:02")[.adapter]?.status == .bad)
    }

    @Test func `Missing Bluetooth is no problem for a cable user`() {
        for daemon in [BluetoothState.Daemon.notRunning, .notInstalled, .noBus("there is none")] {
            let state = Self.state(daemon, [], kernel: [], version: nil)
            #expect(BluetoothCheckup(state: state, isNeeded: false).findings.allSatisfy { $0.status == .good })
        }
    }

    @Test(
        arguments: [
            (state(.notRunning, []), .bluetoothd, "sudo systemctl start bluetooth", .unavailable),
            (state(.notInstalled, []), .bluetoothd, "sudo apt install bluez", .unavailable),
            (state(.noBus("there is none"), []), .bluetoothd, "on the computer itself", .unavailable),
            (
                state(.refuses("not permitted", remedy: "join the group", .notPermitted), []), .bluetoothd,
                "join the group", .notPermitted
            ),
            (state(.running, [], kernel: []), .adapter, "plug in an adapter", .notFound),
            (state(.running, []), .adapter, "sudo systemctl restart bluetooth", .notFound),
            (state(.running, [off]), .adapter, "bluetoothctl power on", .unavailable),
            (
                state(
                    .running, [off], switches: [RadioSwitch(name: "hci1", isSoftBlocked: true, isHardBlocked: false)]),
                .rfkill, "rfkill unblock bluetooth", .unavailable
            ),
            (
                state(.running, [off], switches: [RadioSwitch(name: "hci1", isSoftBlocked: true, isHardBlocked: true)]),
                .rfkill, "switch it on by the hardware switch or key", .unavailable
            ),
        ] as [(BluetoothState, Check, String, LinkError.Code)])
    func `An obstacle fails the check for a BLE device and is a warning for a cable user`(
        state: BluetoothState, check: Check, remedy: String, obstacle: LinkError.Code
    ) throws {
        let failures = BluetoothCheckup(state: state, isNeeded: true).findings.filter { $0.status == .bad }
        #expect(failures.map(\.check) == [check])
        #expect(failures.first?.remedy?.description.contains(remedy) == true, "\(failures)")
        #expect(failures.first?.obstacle == obstacle)
        let warnings = BluetoothCheckup(state: state, isNeeded: false).findings
        #expect(warnings.allSatisfy { $0.status != .bad })
    }

    @Test func `One adapter that is on suffices, unless another one is named`() {
        let state = Self.state(.running, [Self.on, Self.off])
        #expect(BluetoothCheckup(state: state, isNeeded: true).findings.allSatisfy { $0.status == .good })
        #expect(
            check(state, adapter: "hci1")[.adapter]?.remedy?.description.contains("select 00:00:5E:00:53:02") == true)
        #expect(check(state, adapter: "hci0")[.adapter]?.status == .good)
        #expect(check(state, adapter: Self.on.address)[.adapter]?.status == .good)
        #expect(check(state, adapter: "hci7")[.adapter]?.obstacle == .notFound)
        #expect(check(state, adapter: "hci7")[.adapter]?.remedy == "choose one of: hci0, hci1")
    }

    @Test func `The limits of old BlueZ versions are reported`() {
        #expect(BlueZVersion(5, 41).shortcoming?.description.contains("'ble:' does not work") == true)
        #expect(BlueZVersion(5, 47).shortcoming == .advertisesAsExperiment(bluez: "5.47"))
        #expect(BlueZVersion(5, 61).shortcoming?.description.contains("20 bytes") == true)
        #expect(BlueZVersion(5, 62).shortcoming == nil)
        #expect(check(Self.state(version: BlueZVersion(5, 55)))[.bluezVersion]?.status == .warning)
        #expect(check(Self.state(version: nil))[.bluezVersion] == nil)
    }

    @Test func `libdbus is reported with its file, or as linked in`() {
        let path = SharedLibraries.loaded().path(of: "libdbus-1")
        let fact = check(BluetoothState(daemon: .running))[.libdbus]?.fact
        #expect(fact == .text("libdbus \(DBusLibrary.version) is \(path ?? "linked in")"))
        var state = BluetoothState(daemon: .running)
        state.libraryVersion = "1.14.10"
        state.libraryPath = nil
        #expect(check(state)[.libdbus]?.fact == "libdbus 1.14.10 is linked in")
    }

    @Test func `The BlueZ version comes from the modalias or the package list`() {
        // The vendor 1D6B is the Linux Foundation, whose product 0246 is BlueZ; 0542 is 5.66: 0x05 and 0x42.
        #expect(BlueZVersion(modalias: "usb:v1D6Bp0246d0542") == BlueZVersion(5, 66))
        #expect(BlueZVersion(modalias: "usb:v05ACp0246d0542") == nil)
        #expect(BlueZVersion(modalias: "usb:v1D6Bp0246dX") == nil)
        let packages = """
            Package: bluez-obexd
            Version: 1.2

            Package: bluez
            Architecture: amd64
            Version: 1:5.66-1+deb12u2

            Package: zlib
            Version: 3.4
            """
        #expect(BlueZVersion(packages: packages) == BlueZVersion(5, 66))
        #expect(BlueZVersion(packages: "Package: zlib\nVersion: 3.4\n") == nil)
        let removed = "Package: bluez\nStatus: deinstall ok config-files\nVersion: 5.66-1\n"
        #expect(BlueZVersion(packages: removed) == nil)
    }

    @Test func `bluetoothd's battery plugin is reported unless it is disabled`() {
        var state = Self.state()
        func reads(_ arguments: [String]?, _ configuration: String = "", _ version: BlueZVersion? = nil) -> Bool {
            state.arguments = arguments
            state.settings = DaemonSettings(configuration)
            state.version = version
            return state.readsPhones
        }
        #expect(reads(["/usr/libexec/bluetooth/bluetoothd", "-n"]))
        #expect(check(state)[.phones]?.remedy?.description.contains("-P battery") == true)
        #expect(!reads(nil))
        for option in [["-P", "battery"], ["--noplugin=hog,battery"], ["-Pbattery"], ["--noplugin", "battery,hog"]] {
            #expect(!reads(["bluetoothd"] + option), "\(option)")
        }
        #expect(reads(["bluetoothd", "-P", "hog"]))
        let client = "[General]\n#x\n[GATT]\n Client = false\n"
        #expect(!reads(["bluetoothd"], client, BlueZVersion(5, 74)))
        #expect(reads(["bluetoothd"], client, BlueZVersion(5, 66)), "it does not know the setting")
        #expect(reads(["bluetoothd"], "[GATT]\n#Client=false\n[Other]\nClient=false\n", BlueZVersion(5, 80)))
    }

    @Test(
        arguments: [
            ("", BlueZVersion(5, 66), true), ("", BlueZVersion(5, 67), false), ("", BlueZVersion(5, 53), false),
            ("", nil, false), ("[GATT]\nChannels = 0\n", BlueZVersion(5, 66), true),
            ("[GATT]\nChannels = 1\n", BlueZVersion(5, 66), false),
            ("[GATT]\nChannels = 3\n", BlueZVersion(5, 80), true),
            ("[GATT]\n#Channels = 1\n", BlueZVersion(5, 66), true),
        ] as [(String, BlueZVersion?, Bool)])
    func `Reordered notifications are a warning unless bluetoothd uses one channel`(
        configuration: String, version: BlueZVersion?, isSaid: Bool
    ) {
        var state = Self.state(version: version)
        state.settings = DaemonSettings(configuration)
        #expect(check(state)[.channels]?.status == (isSaid ? .warning : nil))
        state.daemon = .notRunning
        #expect(check(state)[.channels] == nil)
    }

    @Test func `rfkill switches are read from sysfs`() throws {
        let folder = TemporaryFolder()
        for (entry, type, soft) in [
            ("rfkill0", "wlan", "1"), ("rfkill1", "bluetooth", "1"), ("rfkill2", "bluetooth", "0"),
        ] {
            try folder.makeFolder(entry)
            for (file, text) in [("type", type), ("name", "of \(entry)"), ("soft", soft), ("hard", "0")] {
                _ = folder.write(text + "\n", to: "\(entry)/\(file)")
            }
        }
        #expect(
            RadioSwitch.all(in: folder.path) == [
                RadioSwitch(name: "of rfkill1", isSoftBlocked: true, isHardBlocked: false),
                RadioSwitch(name: "of rfkill2", isSoftBlocked: false, isHardBlocked: false),
            ])
        #expect(RadioSwitch.all(in: "/proc/nowhere").isEmpty)
    }
}
