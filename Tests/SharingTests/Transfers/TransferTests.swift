import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import StrictJSON
import TestSupport
import Testing

@testable import Sharing

@Suite("Transfers on the control interface", .timeLimit(.minutes(5)))
struct TransferTests {
    private static func sensor(rows: Int) -> TransferRig.Device {
        TransferRig.simulated(
            .storm, StormFirmware(options: StormFirmwareOptions(lineRate: .unlimited, seed: 7, rows: rows)))
    }

    private static func log(rows: Int) -> [UInt8] { StormLog(seed: 7).text(rows: 0..<rows) }

    private static func peer(_ fault: PeerFirmwareOptions.ImageFault? = nil) -> PeerFirmware {
        PeerFirmware(
            options: PeerFirmwareOptions(
                carrier: .line(.unlimited), seed: 3, imageName: "../a b.png", imageByteCount: 90_000,
                imageFault: fault))
    }

    private static let lost = LinkError(.disconnected, name: "scripted", activity: "receive")

    // MARK: Logs

    @Test("A log comes in pieces, and the response counts its lines and those that are no measurements")
    func log() async throws {
        try await TransferRig.run([Self.sensor(rows: 4000)]) { rig in
            let client = try await rig.client()
            try await client.begin("a", "log", of: "storm")
            await rig.pass(StormDownload.hush)
            let log = Self.log(rows: 4000)
            // The last bytes wait for a full piece, and so come only once a silence has ended the log.
            let begun = try await client.fetch("a", until: log.count - 2 * Transfer.pieceLength)
            await settle()
            await rig.pass(StormDownload.defaultQuiet)
            let fetched = try await client.fetch("a", begun)
            #expect(fetched.bytes == log)
            #expect(
                fetched.response
                    == .object([
                        "id": "a", "ok": true, "bytes": .integer(log.count), "check": "lines", "lines": 4000,
                        "odd_lines": 0,
                    ]))
            #expect(fetched.progress.first?["bytes"] == 0)
            // One event at the beginning, and one after each piece, of which the last is not full.
            #expect(fetched.progress.count == log.count / Transfer.pieceLength + 2)
        }
    }

    @Test("Bytes of a slow log wait up to a quarter of a second for a common piece")
    func slowLog() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            await link.deliver("LOG Values: 1 2 3 4\n")
            #expect(try await client.message()["bytes"] == 0)
            rig.clock.advance(by: Transfer.pieceTime - .milliseconds(1))
            await link.deliver("5 6 7 8\n")
            await settle()
            rig.clock.advance(by: .milliseconds(1))
            await link.deliver("9 10 11 12\n")
            let fetched = try await client.fetch(1, until: 1)
            #expect(String(decoding: fetched.bytes, as: UTF8.self) == "1 2 3 4\n5 6 7 8\n9 10 11 12\n")
        }
    }

    @Test("A log that is cut off by a lost link has the bytes that came before")
    func lost() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            #expect(await link.nextSent() == "GET_LOG\n")
            await link.deliver("LOG Values: 1 2 3 4\n5 6")
            await link.end(with: Self.lost)
            let fetched = try await client.fetch(1)
            #expect(String(decoding: fetched.bytes, as: UTF8.self) == "1 2 3 4\n5 6")
            #expect(fetched.error["code"] == "link_lost")
            #expect(fetched.error["bytes"] == 11)
            #expect(fetched.error["outcome"] == "nothing_changed")
            #expect(fetched.error["hint"] == "transfer the log again")
        }
    }

    @Test("A transfer from a silent sensor fails with no_answer, and from an absent one with device_away")
    func silent() async throws {
        let (link, isThere) = (ScriptedLink(), Watched(true))
        let open: @Sendable () async throws -> any Link = {
            guard isThere.state else { throw LinkError(.notFound, name: "scripted", activity: "open") }
            return link
        }
        try await TransferRig.run([(.storm, open)]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            await rig.pass(StormDownload.defaultTimeout)
            let fetched = try await client.fetch(1)
            #expect(fetched.error["code"] == "no_answer" && fetched.error["bytes"] == 0)
            #expect(fetched.progress.isEmpty && fetched.bytes.isEmpty)
            _ = try await client.ask("subscribe", ["events": .array(["link"])])
            isThere.update { $0 = false }
            await link.end(with: Self.lost)
            #expect(try await client.message()["link"] == "lost")
            let away = try await client.refusal("transfer", ["device": "storm", "content": "log"])
            #expect(away["code"] == "device_away" && away["outcome"] == "not_sent")
        }
    }

    @Test(
        "A log with a missing part fails with a code for the reason",
        arguments: [
            ("LOG Values: 1 2 3 4\n5 ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET)\r\n", "restarted", 10),
            ("LOG Values: 1 2 3 4\nLOG Values: 1 2 3 4\n", "began_again", 8),
        ])
    func broken(said: String, code: String, count: Int) async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            await link.deliver(said)
            // The transfer ends before the sensor falls silent.
            let fetched = try await client.fetch(1)
            #expect(fetched.error["code"] == .text(code))
            #expect(fetched.error["bytes"] == .integer(count) && fetched.bytes.count == count)
        }
    }

    @Test("A log whose packets were cut has gaps")
    func gaps() async throws {
        let link = ScriptedLink(keepsPacketBounds: true, packetCapacity: 20)
        try await TransferRig.run([(.storm, { link })]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            // The second packet is full, so its end may be cut off, and the third does not continue its last row.
            await link.deliver(["LOG Values: 1 2 3 4\n", "1 2 3 4\n1 2 3 4.5678", "1 2 3 4\n"].map { Array($0.utf8) })
            let fetched = try await client.fetch(1)
            #expect(fetched.error["code"] == "gaps")
            #expect(fetched.error["bytes"]?.integer == fetched.bytes.count)
            #expect(String(decoding: fetched.bytes, as: UTF8.self).hasPrefix("1 2 3 4\n1 2 3 4\n1 2 3 4.5678"))
        }
    }

    // MARK: Images

    @Test("An image comes in pieces, with its name and size before them")
    func image() async throws {
        try await TransferRig.run([TransferRig.simulated(.peer, Self.peer())]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "image", of: "peer")
            let fetched = try await client.fetch(1)
            #expect(fetched.bytes == Self.peer().picture.bytes)
            #expect(
                fetched.response
                    == .object(["id": 1, "ok": true, "bytes": 90_000, "check": "size", "name": "../a b.png"]))
            #expect(fetched.progress.first?["total"] == 90_000 && fetched.progress.first?["name"] == "../a b.png")
            #expect(fetched.progress.map { $0["bytes"]?.integer } == [0, 36_864, 73_728, 90_000])
        }
    }

    @Test(
        "A damaged image fails with 0 valid bytes, and a refusal has the peer's reason",
        arguments: [
            (PeerFirmwareOptions.ImageFault.sizeMismatch, "size_mismatch"), (.base64Invalid, "base64_invalid"),
            (.beginBadFormat, "begin_bad_format"), (.noFileSelected, "refused"), (.readFailed, "refused"),
        ])
    func damaged(fault: PeerFirmwareOptions.ImageFault, code: String) async throws {
        try await TransferRig.run([TransferRig.simulated(.peer, Self.peer(fault))]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "image", of: "peer")
            let fetched = try await client.fetch(1)
            #expect(fetched.error["code"] == .text(code))
            // With `readFailed`, the peer itself breaks off within the image: the bytes before that are sound.
            #expect(fetched.error["bytes"]?.integer == (fault == .readFailed ? fetched.bytes.count : 0))
            #expect(fetched.error["device_code"] == (code == "refused" ? .text(fault.rawValue) : nil))
            #expect(fetched.error["hint"] != nil && fetched.error["outcome"] == "nothing_changed")
        }
    }

    @Test("An image that stops fails with no_answer, and has the bytes that came before")
    func stopped() async throws {
        try await TransferRig.run([TransferRig.simulated(.peer, Self.peer(.stalls))]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "image", of: "peer")
            let begun = try await client.fetch(1, until: Transfer.pieceLength)
            await settle()
            await rig.pass(PeerRules.timing.quiet)
            let fetched = try await client.fetch(1, begun)
            #expect(fetched.error["code"] == "no_answer")
            #expect(
                fetched.bytes.count > Transfer.pieceLength && fetched.error["bytes"]?.integer == fetched.bytes.count)
            #expect(Self.peer().picture.bytes.starts(with: fetched.bytes))
        }
    }

    // MARK: Ends by the program

    @Test("A cancelled transfer ends at once, and the next gets a whole log once the rest has come")
    func cancelled() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            let rows = Self.log(rows: 3000)
            await link.deliver([Array("LOG Values: ".utf8) + rows])
            let begun = try await client.fetch(1, until: Transfer.pieceLength)
            #expect(begun.bytes == Array(rows[..<Transfer.pieceLength]))
            try await client.send(.object(["id": 2, "do": "cancel", "transfer": 1]))
            var responses: [JSONValue: JSONValue] = [:]
            while responses.count < 2 {
                let message = try await client.message()
                if let id = message["id"] { responses[id] = message }
            }
            #expect(responses[2] == .object(["id": 2, "ok": true, "bytes": .integer(Transfer.pieceLength)]))
            #expect(
                responses[1]?["error"]?["code"] == "cancelled"
                    && responses[1]?["error"]?["bytes"]?.integer == Transfer.pieceLength)
            let again = try await client.refusal("cancel", ["transfer": 1])
            #expect(again["code"] == "no_such_transfer")

            try await other.begin(1, "log", of: "storm")
            await link.deliver("1 2 3 4\n")
            await settle()
            #expect(link.unreadSent == [])
            await rig.pass(StormDownload.defaultQuiet)
            #expect(await link.nextSent() == "GET_LOG\n")
            await link.deliver("LOG Values: 5 6 7 8\n")
            await settle()
            await rig.pass(StormDownload.defaultQuiet)
            #expect(String(decoding: try await other.fetch(1).bytes, as: UTF8.self) == "5 6 7 8\n")
        }
    }

    @Test("Of two transfers the second waits, unless it is cancelled before its turn")
    func turns() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            try await other.begin(1, "log", of: "storm")
            try await other.begin(2, "log", of: "storm")
            #expect(try await other.ask("devices")["ok"] == true)
            try await other.send(.object(["id": 3, "do": "cancel", "transfer": 1]))
            let ends = [try await other.message(), try await other.message()]
            #expect(Set(ends.map { $0["id"] }) == [1, 3])
            #expect(ends.first { $0["id"] == 1 }?["error"]?["code"] == "cancelled")
            for (end, id) in [(client, 1), (other, 2)] {
                #expect(link.unreadSent == [])
                await link.deliver("LOG Values: \(id) 2 3 4\n")
                await settle()
                await rig.pass(StormDownload.defaultQuiet)
                #expect(String(decoding: try await end.fetch(.integer(id)).bytes, as: UTF8.self) == "\(id) 2 3 4\n")
                if id == 1 { #expect(await link.nextSent() == "GET_LOG\n") }
            }
            #expect(link.unreadSent == [])
        }
    }

    @Test("After a connection was closed within its transfer, the device serves others")
    func closed() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            _ = await link.nextSent()
            await link.deliver([Array("LOG Values: ".utf8) + Self.log(rows: 3000)])
            _ = try await client.fetch(1, until: Transfer.pieceLength)
            await client.channel.close()
            try await rig.untilReported("its leaving") { if case .left = $0 { true } else { false } }
            try await other.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.defaultQuiet)
            #expect(await link.nextSent() == "GET_LOG\n")
            await link.deliver("LOG Values: 5 6 7 8\n")
            await settle()
            await rig.pass(StormDownload.defaultQuiet)
            #expect(String(decoding: try await other.fetch(1).bytes, as: UTF8.self) == "5 6 7 8\n")
        }
    }

    // MARK: Slow programs, and others

    @Test("A program that stops reading loses its transfer, and meanwhile another device is switched off")
    func stalled() async throws {
        let pump = PumpFirmware(options: PumpFirmwareOptions(thermistors: .two, heat: .fixed(water: 12, skin: 34)))
        try await TransferRig.run([Self.sensor(rows: 40_000), TransferRig.simulated(.pump, pump)]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            // The log of some 520,000 bytes does not fit into the buffers of the kernel and the daemon.
            let end = rig.clock.now.offset + SharedDevice.patience
            await rig.clock.untilSomebodySleeps(until: end)
            #expect(try await other.ask("stop", ["device": "pump"])["reply"] == .array(["OK", "PUMP:OFF"]))
            #expect(try await other.ask("state", ["device": "storm"])["link"] == "up")
            rig.clock.advance(by: SharedDevice.patience)
            let fetched = try await client.fetch(1)
            #expect(fetched.error["code"] == "too_slow")
            #expect(fetched.error["bytes"]?.integer == fetched.bytes.count)
            #expect(fetched.bytes.count > Transfer.pieceLength && fetched.bytes.count < 400_000)
            #expect(Self.log(rows: 40_000).starts(with: fetched.bytes))
            #expect(try await client.ask("devices")["ok"] == true)
        }
    }

    @Test("A stalled transfer that is cancelled lets the device go on at once")
    func cancelledWhileStalled() async throws {
        let options = StormFirmwareOptions(lineRate: .unlimited, seed: 7, rows: 40_000, interval: .seconds(1))
        let host = DeviceHost(StormFirmware(options: options), pace: .onDemand, hasFlowControl: true)
        try await TransferRig.run([TransferRig.hosted(.storm, host)]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            _ = try await other.ask("subscribe", ["events": .array(["said"])])
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            // The server waits for a program that does not read.
            await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + SharedDevice.patience)
            try await client.send(.object(["id": 2, "do": "cancel", "transfer": 1]))
            // The live row comes after the rest of the unwanted log, and no time has passed.
            await host.advance(by: .seconds(1))
            #expect(try await other.message()["line"]?.string.hasPrefix("LIVE LOG: ") == true)
            try await other.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.defaultQuiet)
            let fetched = try await other.fetch(1, until: Transfer.pieceLength)
            // The live row was added to the stored log.
            #expect(Self.log(rows: 40_001).starts(with: fetched.bytes))
        }
    }

    @Test("A transfer continues for a program that reads slowly")
    func slow() async throws {
        try await TransferRig.run([Self.sensor(rows: 40_000)]) { rig in
            let client = try await rig.client()
            try await client.begin(1, "log", of: "storm")
            await rig.pass(StormDownload.hush)
            let log = Self.log(rows: 40_000)
            var fetched = Fetched()
            for part in 1...2 {
                await rig.clock.untilSomebodySleeps(until: rig.clock.now.offset + SharedDevice.patience)
                rig.clock.advance(by: SharedDevice.patience - .seconds(1))
                // More than the kernel keeps: it lets the daemon write again only once most of that was read.
                fetched = try await client.fetch(1, until: part * 250_000, fetched)
            }
            fetched = try await client.fetch(1, until: log.count - Transfer.pieceLength, fetched)
            await settle()
            await rig.pass(StormDownload.defaultQuiet)
            fetched = try await client.fetch(1, fetched)
            #expect(fetched.response["ok"] == true && fetched.bytes == log)
        }
    }

    @Test("A peer gets messages of others during an image")
    func others() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.peer, { link })]) { rig in
            let (client, other) = (try await rig.client(), try await rig.client())
            try await client.begin(1, "image", of: "peer")
            #expect(await link.nextSent() == "GET_IMAGE\n")
            await link.deliver("IMG_BEGIN a.png 3\r\n")
            #expect(try await client.message()["total"] == 3)
            let say = try await other.ask(
                "command", ["device": "peer", "name": "toggle", "parameters": .object(["state": "OFF"])])
            #expect(say["ok"] == true)
            #expect(await link.nextSent() == "OFF\n")
            await link.deliver("Good morning\r\nQUJD\r\nIMG_END\r\n")
            #expect(try await client.fetch(1).bytes == Array("ABC".utf8))
        }
    }

    // MARK: Requests

    @Test("A transfer is refused if the device has no such content, or its ID is in use")
    func refused() async throws {
        try await TransferRig.run([(.storm, { ScriptedLink() }), (.led, { ScriptedLink() })]) { rig in
            let client = try await rig.client()
            let image = try await client.refusal("transfer", ["device": "storm", "content": "image"])
            #expect(image["message"] == "a storm sensor has no content 'image'" && image["hint"] == "use: log")
            let led = try await client.refusal("transfer", ["device": "led", "content": "log"])
            #expect(led["code"] == "usage" && led["hint"] == nil)
            #expect(try await client.refusal("cancel", ["transfer": 1])["code"] == "no_such_transfer")
            #expect(
                try await client.answer(to: #"{"id":1,"do":"cancel","transfer":1.5}"#)["error"]?["message"]
                    == "'transfer' must be an integer or a string")
            #expect(
                try await client.answer(to: #"{"id":1,"do":"cancel"}"#)["error"]?["message"]
                    == "'cancel' needs 'transfer'")
            // Both lines arrive at once.
            let request = #"{"id":1,"do":"transfer","device":"storm","content":"log"}"#
            let double = try await client.answer(to: request + "\n" + request)
            #expect(double["error"]?["message"] == "the transfer 1 is under way")
            let attach = try await client.answer(to: #"{"id":2,"do":"attach","device":"storm"}"#)
            #expect(attach["error"]?["code"] == "usage")
        }
    }

    @Test("A program may have 16 transfers, including the cancelled ones that the device has not ended")
    func limit() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let client = try await rig.client()
            for id in 0..<ControlConnection.requestLimit {
                try await client.begin(.integer(id), "log", of: "storm")
                try await rig.untilReported("the request", id + 1) { if case .sends = $0 { true } else { false } }
                try await client.send(.object(["id": "cancel", "do": "cancel", "transfer": .integer(id)]))
                // The responses to the transfer and to its cancellation.
                for _ in 0..<2 { _ = try await client.message() }
            }
            let error = try await client.refusal("transfer", ["device": "storm", "content": "log"])
            #expect(error["code"] == "too_many_requests" && error["outcome"] == "not_sent")
            await rig.pass(StormDownload.hush)
            try await rig.untilReported("the turns", ControlConnection.requestLimit) {
                if case .notSent = $0 { true } else { false }
            }
            await settle()
            #expect(link.unreadSent == [])
            try await client.begin("next", "log", of: "storm")
            #expect(await link.nextSent() == "GET_LOG\n")
        }
    }

    @Test("Other programs see who has requested a log, which does not count as a change")
    func author() async throws {
        let link = ScriptedLink()
        try await TransferRig.run([(.storm, { link })]) { rig in
            let (client, watcher) = (try await rig.client(), try await rig.client())
            _ = try await watcher.ask("subscribe", ["events": .array(["command"])])
            try await client.send(
                .object([
                    "id": 1, "do": "transfer", "device": "storm", "content": "log", "by": "page session 3fa2",
                ]))
            let event = try await watcher.message()
            #expect(event["name"] == "log get" && event["by"]?.string.hasPrefix("page session 3fa2 (pid ") == true)
            await rig.pass(StormDownload.hush)
            await link.deliver("LOG Values: 1 2 3 4\n")
            await settle()
            await rig.pass(StormDownload.defaultQuiet)
            #expect(try await client.fetch(1).response["ok"] == true)
            #expect(try await watcher.ask("state", ["device": "storm"])["last_change"] == .null)
        }
    }
}
