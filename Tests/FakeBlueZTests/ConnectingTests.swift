import DBus
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

let pumpPath = "hci0/dev_00_15_83_00_00_10"
let linePath = pumpPath + "/service0001/char0002"

@Suite("The fake's devices", .timeLimit(.minutes(5)))
struct ConnectingTests {
    @Test func `A pump behind an HM-10 is found, connected and spoken to`() async throws {
        try await withBench { bench in
            _ = try await bench.addPump()
            let client = bench.client
            try await client.call("hci0", "Adapter1", "StartDiscovery")
            try await client.hears("hci0 Discovering=true")
            try await client.hears("+ \(pumpPath) Device1")
            #expect(client.heard.state.properties["\(pumpPath) Name"] == .string("HMSoft"))
            #expect(client.heard.state.properties["\(pumpPath) RSSI"] == .int16(-60))
            try await client.call(pumpPath, "Device1", "Connect")
            try await client.hears("\(pumpPath) Connected=true")
            try await client.hears("+ \(pumpPath)/service0001 GattService1")
            try await client.hears("+ \(linePath) GattCharacteristic1")
            try await client.hears("\(pumpPath) ServicesResolved=true")
            #expect(client.heard.state.properties["\(linePath) MTU"] == .uint16(23))
            try await client.call(linePath, "GattCharacteristic1", "StartNotify")
            try await client.call(linePath, "GattCharacteristic1", "WriteValue", [.text("STATUS\n"), .noOptions])
            let answer = try await client.hears(text: "\r\n")
            #expect(answer.hasPrefix("STATUS:{State:OFF"))
            try await client.call(pumpPath, "Device1", "Disconnect")
            try await client.hears("\(pumpPath) Connected=false")
        }
    }
}
