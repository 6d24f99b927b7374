import DeviceKit
import DescriptorIO
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Shared storm sensors", .timeLimit(.minutes(3)))
struct SharedStormTests {
    /// A sensor with a log of some MB.
    private static func sensor(interval: Duration?, echoesCommand: Bool = false) -> StormFirmware {
        StormFirmware(
            options: StormFirmwareOptions(
                lineRate: .unlimited, seed: 7, rows: 150_000, interval: interval, echoesCommand: echoesCommand))
    }

    /// The sensor's reply to a direct client that requests the log.
    private static func direct(_ sensor: StormFirmware) -> [UInt8] {
        var sensor = sensor
        sensor.receive(Array("GET_LOG\n".utf8), at: .zero)
        var bytes: [UInt8] = []
        while !sensor.isQuiescent, let next = sensor.nextActivity {
            for emission in sensor.advance(to: next) { bytes += emission.bytes }
        }
        return bytes
    }

    private static func log(rows: Int) -> [UInt8] {
        Array("LOG Values: ".utf8) + StormLog(seed: 7).text(rows: 0..<rows)
    }

    @Test("A log goes to its requester byte for byte, and live rows go to all clients")
    func log() async throws {
        let sensor = Self.sensor(interval: .milliseconds(10))
        let said = Self.direct(sensor)
        let rows = said.split(separator: 0x0A).filter { $0.starts(with: "LIVE LOG: ".utf8) }.map {
            String(decoding: $0.dropLast(), as: UTF8.self)
        }
        try #require(rows.count > 10 && said.count > 2_000_000)
        try await SharedBench.run(.storm, sensor) { bench, host in
            let (asker, other) = (try await bench.client(), try await bench.client())
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            #expect(await asker.bytes(said.count) == said)
            for row in rows { #expect(try await other.line() == row) }
            await host.advance(by: .milliseconds(10))
            let next = try #require(try await other.line())
            #expect(next.hasPrefix("LIVE LOG: "))
            #expect(try await asker.line() == next)
        }
    }

    @Test("A client that stops reading its log is dropped, and the next gets a whole log")
    func stalled() async throws {
        let sensor = Self.sensor(interval: .seconds(1))
        try await SharedBench.run(.storm, sensor) { bench, host in
            let (asker, next, other) = (try await bench.client(), try await bench.client(), try await bench.client())
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            await bench.pass(SharedDevice.patience)
            try await bench.untilReported("that the asker is dropped") {
                if case .dropped(_, LineClient.Offence.stalled.rawValue) = $0 { true } else { false }
            }
            try await next.say("GET_LOG\n")
            try await expectWholeLog(for: next, other, bench, host)
            #expect(await asker.rest().count < 2_000_000)
        }
    }

    @Test("A share ends at once, also while a client has stopped reading its log")
    func cancelled() async throws {
        try await SharedBench.run(.storm, Self.sensor(interval: nil)) { bench, host in
            let asker = try await bench.client()
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            await bench.clock.untilSomebodySleeps(until: bench.clock.now.offset + SharedDevice.patience)
        }
    }

    @Test("A log continues for a client that reads it slowly")
    func slow() async throws {
        let said = Self.direct(Self.sensor(interval: nil))
        try await SharedBench.run(.storm, Self.sensor(interval: nil)) { bench, host in
            let asker = try await bench.client()
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            var log: [UInt8] = []
            for _ in 0..<3 {
                await bench.clock.untilSomebodySleeps(until: bench.clock.now.offset + SharedDevice.patience)
                bench.clock.advance(by: SharedDevice.patience - .seconds(1))
                log += await asker.bytes(500_000)
            }
            log += await asker.bytes(said.count - log.count)
            #expect(log == said)
        }
    }

    @Test("After a client left within its log the next gets a whole log")
    func left() async throws {
        try await SharedBench.run(.storm, Self.sensor(interval: .seconds(1))) { bench, host in
            let (asker, next, other) = (try await bench.client(), try await bench.client(), try await bench.client())
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            _ = await asker.bytes(100_000)
            // The asker no longer reads, so its log waits until it leaves.
            await bench.clock.untilSomebodySleeps(until: bench.clock.now.offset + SharedDevice.patience)
            await asker.leave()
            try await next.say("GET_LOG\n")
            try await expectWholeLog(for: next, other, bench, host)
        }
    }

    /// Lets the sensor send the rest of the unwanted log, and expects the next log.
    private func expectWholeLog(
        for next: LineClientEnd, _ other: LineClientEnd, _ bench: SharedBench, _ host: DeviceHost<StormFirmware>
    ) async throws {
        // The live row comes after the rest of the unwanted log.
        await host.advance(by: .seconds(1))
        let row = try #require(try await other.line())
        #expect(row.hasPrefix("LIVE LOG: "))
        await bench.pass(StormDownload.defaultQuiet)
        // Live rows go to this client too, before its log.
        #expect(try await next.line() == row)
        // The live row was added to the stored log.
        let log = Self.log(rows: 150_001)
        #expect(await next.bytes(log.count) == log)
    }

    @Test("A client whose log is cut off by a lost link is disconnected")
    func lost() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.storm, at: "sim:storm") {
            link
        } _: { bench in
            let (asker, other) = (try await bench.client(), try await bench.client())
            try await asker.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            _ = await link.nextSent()
            await link.deliver("LOG Values: 1 2 3 4\nLIVE LOG: 1 2 3 4\n")
            #expect(try await other.line() == "LIVE LOG: 1 2 3 4")
            await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
            #expect(String(decoding: await asker.rest(), as: UTF8.self) == "LOG Values: 1 2 3 4\nLIVE LOG: 1 2 3 4\r\n")
            #expect(
                bench.reports.state.contains {
                    if case .dropped(_, "the reply is incomplete") = $0 { true } else { false }
                })
        }
    }

    @Test("The sensor gets no request of a client that left while waiting")
    func leftBefore() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.storm, at: "sim:storm") {
            link
        } _: { bench in
            let (first, second, third) = (
                try await bench.client(), try await bench.client(), try await bench.client()
            )
            for (count, client) in [first, second, third].enumerated() {
                try await client.say("GET_LOG\n")
                _ = try await bench.reports.wait(for: "the line to be taken") { events in
                    events.count { if case .sends = $0 { true } else { false } } > count ? true : nil
                }
            }
            await bench.pass(StormDownload.hush)
            #expect(await link.nextSent() == "GET_LOG\n")
            await second.leave()
            try await bench.untilReported("that it has left") { if case .left = $0 { true } else { false } }
            await link.deliver("LOG Values: 1\n")
            #expect(try await first.line() == "LOG Values: 1")
            await bench.pass(StormDownload.defaultQuiet)
            #expect(await link.nextSent() == "GET_LOG\n")
            await link.deliver("LOG Values: 2\n")
            #expect(try await third.line() == "LOG Values: 2")
            #expect(link.unreadSent == [])
        }
    }

    @Test("The next user of a pseudo-terminal gets nothing of the previous user's log")
    func terminal() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.storm, at: "sim:storm") {
            link
        } _: { bench in
            let folder = TemporaryFolder()
            let share = try await TerminalShare.open(bench.device, link: folder.path("storm"))
            let user = try LineClientEnd(atTerminal: share.path)
            try await user.say("GET_LOG\n")
            await bench.pass(StormDownload.hush)
            _ = await link.nextSent()
            await link.deliver("LOG Values: 1\n")
            #expect(try await user.line() == "LOG Values: 1")
            await user.leave()
            try await bench.untilReported("its leaving") { if case .left = $0 { true } else { false } }
            let next = try LineClientEnd(atTerminal: share.path)
            try await next.say("GET_LOG\n")
            try await bench.reports.wait(for: "the next one's coming") {
                $0.count { if case .came = $0 { true } else { false } } == 2 ? () : nil
            }
            await link.deliver("2\nLIVE LOG: 3\n")
            #expect(try await next.line() == "LIVE LOG: 3")
            await bench.pass(StormDownload.defaultQuiet)
            #expect(await link.nextSent() == "GET_LOG\n")
            await link.deliver("LOG Values: 4\n")
            #expect(try await next.line() == "LOG Values: 4")
            await share.close()
        }
    }

    @Test("Log and live rows in packets become the same lines")
    func packets() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        try await SharedBench.run(.storm, at: "ble:storm") {
            link
        } _: { bench in
            let (asker, other) = (try await bench.client(), try await bench.client())
            try await asker.say("GET_LOG\r\n")
            await bench.pass(StormDownload.hush)
            #expect(await link.nextSent() == "GET_LOG")
            let packets = [
                "GET_LOG", "LOG Values: 1 2 3 4\n5 6", "LIVE LOG: 9 9 9 9", " 7 8\n9 9 9", " 9", "LIVE LOG: 8 8 8 8",
            ]
            await link.deliver(packets.map { Array($0.utf8) })
            for line in ["LOG Values: 1 2 3 4", "LIVE LOG: 9 9 9 9", "5 6 7 8"] {
                #expect(try await asker.line() == line)
            }
            #expect(try await other.line() == "LIVE LOG: 9 9 9 9")
            // Once this row has come, so has all of the log, and its silence may begin.
            #expect(try await other.line() == "LIVE LOG: 8 8 8 8")
            await bench.pass(StormDownload.defaultQuiet)
            for line in ["LIVE LOG: 8 8 8 8", "9 9 9 9"] { #expect(try await asker.line() == line) }
            await link.deliver("LIVE LOG: 7 7 7 7")
            #expect(try await other.line() == "LIVE LOG: 7 7 7 7")
        }
    }

    @Test("Raw BLE measurements become live rows")
    func raw() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        try await SharedBench.run(.storm, at: "ble:storm?profile=storm-live") {
            link
        } _: { bench in
            let client = try await bench.client()
            await link.deliver("1 2 3 4.5")
            #expect(try await client.line() == "LIVE LOG: 1 2 3 4.5")
        }
    }
}
