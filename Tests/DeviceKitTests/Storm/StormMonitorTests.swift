import DeviceKit
import DeviceTestKit
import Foundation
import LineProtocol
import RecordFormat
import TestSupport
import Testing
import Transports

@Suite("The storm monitor", .timeLimit(.minutes(5)))
struct StormMonitorTests {
    /// A packet holds 7 bytes, so that the row `1 2 3 4` fills it and may be cut.
    private let link = ScriptedLink(keepsPacketBounds: true, packetCapacity: 7)

    /// Delivers `texts` to a monitor; returns its first `count` rows.
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

    @Test func `Rows are parsed, have a time, and are marked if they may be cut`() async throws {
        let before = RecordTime.now
        let rows = try await rows(3, of: ["1 2 3 4", "1 2 3 5\n", "odd"], from: .live)
        #expect(rows.map(\.measurement?.value) == [4, 5, nil])
        #expect(rows.map(\.mayBeCut) == [true, false, false])
        #expect(rows.map { String(decoding: $0.bytes, as: UTF8.self) } == ["1 2 3 4", "1 2 3 5", "odd"])
        #expect(rows.allSatisfy { $0.time >= before && $0.time <= .now })
    }

    @Test func `Raw measurements use their own profile`() throws {
        let endpoint = try Endpoint("ble:storm")
        #expect(endpoint.stormCharacteristic == .backup)
        #expect(endpoint.rawMeasurements.stormCharacteristic == .live)
        #expect(endpoint.rawMeasurements.options["profile"] == "storm-live")
    }

    @Test(
        arguments: [
            (
                "1 2 3 4.50", ["1970-01-01T00:00:00.000Z", "1", "2", "3", "4.50"],
                #"{"pipe":"1","point":"3","port":"2","row":"1 2 3 4.50","time":"1970-01-01T00:00:00.000Z","value":4.5}"#
            ),
            (
                "1 2 3 nan", ["1970-01-01T00:00:00.000Z", "1", "2", "3", "nan"],
                #"{"pipe":"1","point":"3","port":"2","row":"1 2 3 nan","time":"1970-01-01T00:00:00.000Z","value":null}"#
            ),
            ("odd\u{7}", nil, #"{"row":"odd\\x07","time":"1970-01-01T00:00:00.000Z"}"#),
        ] as [(String, [String]?, String)])
    func `A measurement has table cells, and every row is a JSON object`(
        text: String, cells: [String]?, json: String
    ) throws {
        let row = StormLiveRow(Array(text.utf8), at: RecordTime(milliseconds: 0))
        #expect(row.cells == cells)
        #expect(cells.map(\.count) ?? 5 == StormLiveRow.columns.count)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(row), as: UTF8.self) == json)
    }
}
