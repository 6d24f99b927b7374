import DBus
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

@testable import pumpctl

@Suite("Failures of bluetoothd as messages") struct BLEFaultTests {
    /// A D-Bus error of a connection attempt, and the exit status and the words of pumpctl's error.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var status: Int32
        var word: String
        var hint: String
        var testDescription: String { "\(name) \(text)" }
    }

    static let refusals = [
        Refusal(
            name: "org.bluez.Error.NotReady", text: "Resource Not Ready", status: 69, word: "off, or blocked by rfkill",
            hint: "rfkill unblock bluetooth"),
        Refusal(
            name: "org.bluez.Error.InProgress", text: "Operation already in progress", status: 69, word: "busy",
            hint: "another attempt is pending or stale"),
        Refusal(
            name: "org.bluez.Error.NotPermitted", text: "Notify acquired", status: 69, word: "busy",
            hint: "end the other program, or the earlier session"),
        Refusal(
            name: "org.bluez.Error.NotPermitted", text: "Not paired", status: 77, word: "not paired",
            hint: "bluetoothctl pair"),
        Refusal(
            name: "org.bluez.Error.NotAuthorized", text: "Operation Not Authorized", status: 77, word: "denied",
            hint: "keep bluetoothd's plugin from claiming the service"),
        Refusal(
            name: "org.freedesktop.DBus.Error.UnknownObject", text: "No such object", status: 66, word: "no such port",
            hint: "out of range"),
        Refusal(
            name: "org.freedesktop.DBus.Error.ServiceUnknown", text: "not provided by any .service files", status: 69,
            word: "bluetoothd is not running", hint: "sudo systemctl start bluetooth"),
        Refusal(
            name: "org.freedesktop.DBus.Error.AccessDenied", text: "Rejected send message", status: 77,
            word: "denied", hint: "sudo usermod -aG bluetooth"),
    ]

    @Test(arguments: refusals) func `A refusal names the obstacle and a remedy`(refusal: Refusal)
        async throws
    {
        try await withBLEBench { bench in
            let pump = try await HM10(PumpFirmware(), pace: .onDemand)
            let name = try #require(DBusErrorName(refusal.name))
            await Self.refuse(pump.radio, DBusError(answering: name, refusal.text))
            await bench.fake.add(pump.radio)
            let ending = try await bench.run("--port", "ble:HMSoft", "status")
            expectFailure(ending, refusal.status, saying: "ble:HMSoft", refusal.word, hint: refusal.hint)
        }
    }

    /// Lets the next 20 connection attempts fail, more than pumpctl makes.
    @Radio private static func refuse(_ device: RadioDevice, _ error: DBusError) {
        device.manners.connectErrors = Array(repeating: error, count: 20)
    }

    @Test func `A missing device is reported with the devices in range`() async throws {
        try await withBLEBench { bench in
            await bench.add("00:15:83:00:00:10", name: "HMSoft\u{1B}[2J", services: ["FFE0"])
            let ending = try await bench.run("--port", "ble:HMSofa", "status")
            expectFailure(ending, 66, saying: "ble:HMSofa", hint: "in range: 'HMSoft\\x1b[2J'")
        }
    }

    @Test func `A missing bus, bluetoothd or adapter, and a blocked adapter are reported`() async throws {
        let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/proc/nowhere"]
        expectFailure(
            try await Pumpctl.run("-p", "ble:HMSoft", "status", environment: nowhere), 69,
            saying: "ble:HMSoft: the system bus can't be reached",
            hint: "unset DBUS_SYSTEM_BUS_ADDRESS")
        try await ScanCommandTests.expectNoStart("-p", "ble:HMSoft", "status")
        try await withBLEBench { bench in
            expectFailure(
                try await bench.run("-p", "ble:HMSoft?adapter=hci7", "status"), 66, saying: "adapter not found",
                hint: "hci0")
            await Self.block(bench.adapter)
            expectFailure(
                try await bench.run("-p", "ble:HMSoft", "status"), 69, saying: "blocked by rfkill",
                hint: "rfkill unblock")
        }
    }

    @Radio private static func block(_ adapter: FakeAdapter) { adapter.isBlocked = true }

    @Test func `A bus that denies access is reported by every command`() async throws {
        try await withBLEBench(isForbidden: true) { bench in
            for arguments in [["scan"], ["-p", "ble:HMSoft", "status"], ["-p", "ble:*", "on"]] {
                let ending = try await Pumpctl.start(arguments, environment: bench.environment).ending()
                expectFailure(ending, 77, saying: "permission denied", hint: "sudo usermod -aG bluetooth")
            }
            let doctor = try await bench.run("doctor", "ble:HMSoft")
            expectFailure(doctor, 77, saying: "1 check failed")
            #expect(doctor.output.contains("sudo usermod -aG bluetooth"))
        }
    }

    @Test func `Help of status has an example of a BLE endpoint`() async throws {
        #expect(try await Pumpctl.run("status", "--help").output.contains("ble:HMSoft"))
    }
}
