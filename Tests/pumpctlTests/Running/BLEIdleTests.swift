import DBus
import Foundation
import TestSupport
import Testing

@Suite("Idle BLE links of pumpctl", .timeLimit(.minutes(5)))
struct BLEIdleTests {
    @Test func `An idle pumpctl has two threads that unrelated bus traffic does not wake`() async throws {
        let pump = try await BLEPump()
        let console = try await pump.start("-p", "ble:HMSoft", "console")
        try await console.write("STATUS\n")
        _ = try await console.output.text(upTo: "STATUS:{State:OFF")
        let other = try await DBusConnection.open(.address(pump.bus.address))
        // Wait until pumpctl has finished the work that follows the reply: until 100 pings wake no thread of pumpctl.
        var before: [String: Int] = [:]
        var now = try voluntarySwitches(of: console.processID)
        while now != before {
            before = now
            try await askBluetoothd(100, over: other)
            now = try voluntarySwitches(of: console.processID)
        }
        try await askBluetoothd(3000, over: other)
        // Some wake-ups are allowed, because an earlier sleep may still end.
        let wakeUps = try voluntarySwitches(of: console.processID).map { $1 - before[$0, default: 0] }
        #expect(wakeUps.count == 2 && wakeUps.allSatisfy { $0 < 30 }, "\(wakeUps)")
        try await console.write("TEMP\n")
        _ = try await console.output.text(upTo: "TEMP:{Water:")
        await other.close()
    }

    /// Pings bluetoothd `count` times: traffic that does not concern pumpctl.
    private func askBluetoothd(_ count: Int, over bus: DBusConnection) async throws {
        for _ in 0..<count {
            try await bus.call(DBusCall(to: "org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping"))
        }
    }

    /// The number of voluntary waits of each thread of a process.
    private func voluntarySwitches(of process: pid_t) throws -> [String: Int] {
        var switches: [String: Int] = [:]
        let folder = "/proc/\(process)/task"
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let status = try String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
            switches[thread] = line.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) }
        }
        return switches
    }
}
