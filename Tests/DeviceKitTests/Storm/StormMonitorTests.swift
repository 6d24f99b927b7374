import DeviceKit
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("A storm sensor that is followed", .timeLimit(.minutes(1)))
struct StormMonitorTests {
    private let link = ScriptedLink(keepsPacketBounds: true, packetCapacity: 7)

    private func rows(_ count: Int, of texts: [String], from characteristic: StormCharacteristic) async throws
        -> [StormLiveRow]
    {
        let monitor = StormMonitor(
            over: link, Reconnector(try Endpoint("tcp:bench:4000"), link), from: characteristic)
        for text in texts { await link.deliver(text) }
        var rows: [StormLiveRow] = []
        for try await event in monitor {
            if case .heard(let row) = event { rows.append(row) }
            if rows.count == count { break }
        }
        await monitor.close()
        return rows
    }

    @Test func `Rows come read, with their time, and whether they may be cut`() async throws {
        let before = RecordTime.now
        let rows = try await rows(3, of: ["1 2 3 4", "1 2 3 5\n", "odd"], from: .live)
        #expect(rows.map(\.measurement?.value) == [4, 5, nil])
        #expect(rows.map(\.mayBeCut) == [true, false, false])
        #expect(rows.map { String(decoding: $0.bytes, as: UTF8.self) } == ["1 2 3 4", "1 2 3 5", "odd"])
        #expect(rows.allSatisfy { $0.time >= before && $0.time <= .now })
    }

    @Test func `Raw measurements are a profile of their own`() throws {
        let endpoint = try Endpoint("ble:storm")
        #expect(endpoint.stormCharacteristic == .backup)
        #expect(endpoint.rawMeasurements.stormCharacteristic == .live)
        #expect(endpoint.rawMeasurements.options["profile"] == "storm-live")
    }
}
