import DeviceTestKit
import FirmwareSim
import Foundation
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Bench: log of the storm sensor", .timeLimit(.minutes(5)))
struct StormBenchTests {
    @Test("A log with no, one or 3,000 rows arrives intact", arguments: StormRigKind.allCases, [0, 1, 3000])
    func log(kind: StormRigKind, rows: Int) async throws {
        try await kind.run(rows: rows) { rig in
            let link = try await rig.link()
            let expected = StormRigKind.log(rows: rows)
            let (text, liveRows) = try await fetch(over: link, count: expected.count)
            #expect(text == expected)
            #expect(liveRows == 0)
            await link.close()
        }
    }

    @Test("A new measurement is in the next log", arguments: StormRigKind.allCases)
    func measured(kind: StormRigKind) async throws {
        try await kind.run(rows: 5) { rig in
            let link = try await rig.link()
            let first = try await fetch(over: link, count: StormRigKind.log(rows: 5).count)
            let row = try await rig.measure()
            let expected = first.text + Array("\(row)\n".utf8)
            #expect(try await fetch(over: link, count: expected.count).text == expected)
            await link.close()
        }
    }

    @Test("Live rows arrive as they are measured", arguments: StormRigKind.allCases)
    func live(kind: StormRigKind) async throws {
        try await kind.run(rows: 5) { rig in
            let link = try await rig.link()
            // A first reply shows that the sensor has noticed its client, to which it sends live rows from then on.
            _ = try await fetch(over: link, count: StormRigKind.log(rows: 5).count)
            var rows = StormLiveRows(over: link).makeAsyncIterator()
            for _ in 0..<3 {
                let row = try await rig.measure()
                #expect(try await rows.next() == Array(row.utf8))
                #expect(StormMeasurement(row: Array(row.utf8)) != nil)
            }
            await link.close()
        }
    }

    @Test("100 kB at 115200 baud take 8.7 s and arrive intact")
    func paced() async throws {
        let options = StormFirmwareOptions(seed: 7, rows: 7100, echoesCommand: true)
        let device = try await ServedDevice(StormFirmware(options: options), on: .terminal)
        let link = try await LinkSchemes.standard.open(Endpoint(device.endpoint))
        let expected = StormRigKind.log(rows: 7100)
        #expect(try await fetch(over: link, count: expected.count).text == expected)
        let time = await device.host.change { _, now in now }
        #expect(time >= .seconds(10) * expected.count / 115_200)
        #expect(time < .seconds(11) * expected.count / 115_200)
        await link.close()
        await device.stop()
    }

    /// Fetches a log of `count` bytes. The download's clock stands still until all of them have arrived, so that no
    /// delay on a busy machine ends the download early.
    private func fetch(over link: any Link, count: Int) async throws -> (text: [UInt8], liveRows: Int) {
        let clock = ManualClock()
        let text = Watched([UInt8]())
        let quiet = Duration.seconds(1)
        let fetching = Task {
            var download = StormDownload(over: link, clock: clock, quiet: quiet)
            while let more = try await download.next() { text.update { $0 += more } }
            return download.liveRowCount
        }
        await clock.untilSomebodySleeps(until: StormDownload.hush)
        clock.advance(by: StormDownload.hush)
        _ = try await text.wait(for: "\(count) bytes", within: .seconds(120)) { $0.count >= count ? true : nil }
        // An empty log still has a prefix. Until the prefix arrives, the download sleeps until the time-out of a reply.
        await clock.untilSomebodySleeps(until: StormDownload.hush + quiet)
        clock.advance(by: quiet)
        return (text.state, try await fetching.value)
    }
}

@Suite("Bench: pumpctl storm log get", .timeLimit(.minutes(5)))
struct LogCommandBenchTests {
    /// The log with 760,000 rows, created once because that takes long.
    private static let tenMegabytes = Data(StormRigKind.log(rows: 760_000))

    @Test("A log of 10 MB arrives intact, with hardly more memory than ten rows", arguments: StormRigKind.allCases)
    func memory(kind: StormRigKind) async throws {
        #expect(Self.tenMegabytes.count > 10_000_000)
        let little = try await peak(kind, rows: 10, Data(StormRigKind.log(rows: 10)))
        let much = try await peak(kind, rows: 760_000, Self.tenMegabytes)
        // A program that kept the log would need 10,000 kB more.
        #expect(much - little < 4000, "\(little) kB for ten rows, \(much) kB for 10 MB")
    }

    /// Fetches a log with pumpctl, and compares it with `expected`; returns pumpctl's maximum memory in kB.
    private func peak(_ kind: StormRigKind, rows: Int, _ expected: Data) async throws -> Int {
        let folder = TemporaryFolder()
        let file = folder.path("storm.log")
        var peak = 0
        try await kind.run(rows: rows) { rig in
            // On a busy machine the log may pause for longer than the default `--quiet` of 1 s.
            peak = try await MeasuredProgram.peak(
                of: "-p", rig.endpoint, "--timeout", "30", "--json", "storm", "log", "get", "--quiet", "10s", "-o",
                file,
                environment: rig.environment)
        }
        let stored = try Data(contentsOf: URL(filePath: file))
        #expect(
            stored == expected,
            "\(stored.count) of \(expected.count) bytes, right: \(stored == expected.prefix(stored.count))")
        return peak
    }
}
