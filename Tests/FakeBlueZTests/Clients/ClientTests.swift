import DBus
import FakeBlueZ
import Glibc
import TestSupport
import Testing

/// Runs clients that were written for the real bluetoothd, without knowledge of the fake.
@Suite("Third-party clients of the fake bluetoothd", .timeLimit(.minutes(5)))
struct ClientTests {
    private static let hasBleak = access("/usr/lib/python3/dist-packages/bleak/__init__.py", R_OK) == 0
    private static let hasBluetoothctl = Executable.find("bluetoothctl") != nil

    @Test(.enabled(if: hasBleak, "not installed: python3-bleak"))
    func `bleak finds the pump, gets replies and disconnects`() async throws {
        try await withBench { bench in
            let pump = try await bench.addPump()
            let script = #filePath.replacing("ClientTests.swift", with: "bleak_client.py")
            let ending = try await bench.bus.run(["/usr/bin/python3", script])
            #expect(ending.status == 0, "\(ending.errors)")
            let lines = ending.output.split(separator: "\n")
            #expect(lines.first == "['ffe0']")
            #expect(lines.dropFirst().first?.hasPrefix("STATUS:{State:OFF,") == true)
            #expect(lines.last?.hasPrefix("TEMP:{Water:") == true)
            try await pump.radio.untilUnlinked()
        }
    }

    @Test(.enabled(if: hasBluetoothctl, "not installed: bluez"))
    func `bluetoothctl shows the adapter, finds the pump and gets a reply`() async throws {
        try await withBench { bench in
            _ = try await bench.addPump()
            let program = try await ChildProcess(["bluetoothctl"], environment: bench.bus.environment)
            func does(_ command: String, _ answers: String...) async throws {
                try await program.write(command + "\n")
                for answer in answers { try await program.output.text(upTo: answer) }
            }
            try await program.output.text(upTo: "Agent registered")
            try await does("show", "Controller 00:00:5E:00:53:01", "Powered: yes", "Discovering: no")
            try await does("scan on", "Discovering: yes", "Device 00:15:83:00:00:10 HMSoft")
            try await does("info 00:15:83:00:00:10", "Name: HMSoft", "Connected: no", "0000ffe0-0000-1000")
            try await does("connect 00:15:83:00:00:10", "Connection successful", "ServicesResolved: yes")
            try await does("gatt.select-attribute 0000ffe1-0000-1000-8000-00805f9b34fb")
            try await does("gatt.attribute-info", "Flags: read", "write-without-response", "notify")
            try await does("gatt.notify on", "Notify started")
            // "TEMP\n"
            try await does("gatt.write \"0x54 0x45 0x4d 0x50 0x0a\" 0 command", "TEMP:{Water:")
            try await does("disconnect", "Successful disconnected")
            try await does("quit")
            try await program.ending()
        }
    }
}
