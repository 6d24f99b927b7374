import FakeBlueZ
import Foundation
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl doctor for BLE") struct BluetoothDoctorTests {
    @Test func `A visible BLE device is examined without a connection`() async throws {
        try await withBLEBench { bench in
            await bench.add("00:15:83:00:00:10", name: "HMSoft", services: ["FFE0"], strength: -50)
            let ending = try await bench.run("doctor", "ble:HMSoft", "--json")
            #expect(ending.status == 0, "\(ending)")
            let checks = try ending.objects().map { "\($0["check"] ?? "") \($0["status"] ?? "")" }
            #expect(checks.prefix(4) == ["in_sight ok", "connection ok", "services ok", "profile ok"])
            #expect(checks.contains("adapter ok"))
            #expect(await bench.fake.calls.state.allSatisfy { $0.member != "Connect" })
        }
    }

    @Test func `A BLE device that is out of reach is a failed check`() async throws {
        try await withBLEBench { bench in
            await bench.add("00:15:83:00:00:11", name: "Lamp")
            let ending = try await bench.run("doctor", "ble:00:15:83:00:00:10")
            expectFailure(ending, 66, saying: "1 check failed")
            #expect(ending.output.contains("in range: Lamp"))
        }
    }

    @Test func `Missing Bluetooth is a failure only for a BLE device`() async throws {
        let bus = try await PrivateBus()
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        let ending = try await Pumpctl.run("doctor", "ble:HMSoft", environment: environment)
        expectFailure(ending, 69, saying: "failed")
        #expect(ending.output.contains("bluetoothd is not running"), "\(ending.output)")
        let plain = try await Pumpctl.run("doctor", environment: environment)
        #expect(!plain.output.split(separator: "\n").contains { $0.hasPrefix("fail") && $0.contains("luetooth") })
    }
}
