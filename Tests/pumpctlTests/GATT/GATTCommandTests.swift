import FakeBlueZ
import Foundation
import TestSupport
import Testing

@Suite("pumpctl gatt", .timeLimit(.minutes(5)))
struct GATTCommandTests {
    /// A device of no family: a battery, a thermometer that is configured by a write, and a UUID that occurs twice.
    @Radio
    private final class Thing {
        let radio = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "What?", services: ["180F"]))
        let level = RadioCharacteristic("2A19", [.read, .notify], value: [0x64])
        let text = RadioCharacteristic("2A29", [.read], value: Array("ACME \u{1B}[2J".utf8))
        let interval = RadioCharacteristic("2A21", [.read, .write], value: [0, 0])
        let quick = RadioCharacteristic("FFE1", [.writeWithoutResponse, .notify])
        let second = RadioCharacteristic("2A19", [.read], value: [7])
        /// Each write: the characteristic, the bytes, and whether the central wanted a response.
        nonisolated let writes = Watched<[String]>([])

        init() {
            radio.services = [
                RadioService("180F", [level]), RadioService("180A", [text]),
                RadioService("FFC0", [interval, second, quick]),
            ]
            for (name, characteristic) in [("2A21", interval), ("FFE1", quick)] {
                characteristic.onWrite = { [writes] bytes, request in
                    writes.update { $0.append("\(name) \(bytes) \(request.wantsAnswer)") }
                }
            }
        }

        func join(_ fake: FakeBlueZ) { fake.add(radio) }

        /// Drops the link at the first read of 2A21; counts these reads.
        func failOnce(_ reads: Watched<Int>) {
            interval.onRead = { [radio] _ in
                if reads.update({
                    $0 += 1; return $0
                }) == 1 {
                    radio.dropLinks()
                }
                return [0, 0]
            }
        }
    }

    private static let device = "ble:What%3F"

    /// Calls `body` with a bench that has the device in reach.
    private func withThing(_ body: (BLEBench, Thing) async throws -> Void) async throws {
        try await withBLEBench { bench in
            let thing = await Thing()
            await thing.join(bench.fake)
            try await body(bench, thing)
        }
    }

    @Test func `list shows services, characteristics, handles and flags`() async throws {
        try await withThing { bench, _ in
            let list = try await bench.run("gatt", Self.device, "list")
            #expect(list.status == 0, "\(list)")
            let lines = list.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "180F  Battery" && lines[1] == "  2A19  char0002  read, notify  Battery Level")
            #expect(
                lines.contains("FFC0")
                    && lines.contains { $0.hasPrefix("  FFE1") && $0.contains("write-without-response, notify") })
            let json = try await bench.run("-p", Self.device, "--json", "gatt")
            let records = try json.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(records.count == 5)
            #expect(records[0]["service"] as? String == "180F" && records[0]["service_name"] as? String == "Battery")
            #expect(records[0]["characteristic"] as? String == "2A19" && records[0]["handle"] as? Int == 2)
            #expect(records[0]["flags"] as? [String] == ["read", "notify"])
            #expect(records[0]["descriptors"] as? [String] == ["2902"])
            #expect(records[4]["name"] as? String == "HM-10 serial" && records[4]["service_name"] is NSNull)
            // pumpctl disconnects the device, so that it is free for the next program.
            #expect(await bench.fake.calls.state.contains { $0.member == "Disconnect" })
        }
    }

    @Test func `read prints typed values, and a repeated UUID is read by service or handle`() async throws {
        try await withThing { bench, _ in
            let twice = try await bench.run("gatt", Self.device, "read", "2A19")
            expectFailure(twice, 66, saying: "has the characteristic 2A19 2 times: char0002 in 180F", hint: "char0002")
            for (words, output) in [
                (["180F/2A19", "--type", "u8"], "100\n"), (["char0002"], "64  \"d\"\n"),
                (["0x180F/0x2A19", "2A21"], "2A19  64  \"d\"\n2A21  00 00\n"),
                // A value with control characters is not printed as text, unless --type asks for text.
                (["2A29"], "41 43 4d 45 20 1b 5b 32 4a\n"), (["2A29", "--type", "text"], "ACME \\x1b[2J\n"),
            ] {
                let ending = try await Pumpctl.start(
                    ["gatt", Self.device, "read"] + words, environment: bench.environment
                )
                .ending()
                #expect(ending.status == 0 && ending.output == output, "\(ending)")
            }
            let object = try await bench.run("gatt", Self.device, "read", "2A21", "--type", "u16", "--json").object()
            #expect(object["value"] as? Int == 0 && object["hex"] as? String == "00 00" && object["text"] is NSNull)
            let wrong = try await bench.run("gatt", Self.device, "read", "2A21", "--type", "u32")
            expectFailure(wrong, 76, saying: "the value of 2A21 is not of type u32: it has 2 bytes", hint: "--type")
            expectFailure(
                try await bench.run("gatt", Self.device, "read", "2A1A"), 66, saying: "no characteristic 2A1A",
                hint: "2A19, 2A29")
            expectFailure(
                try await bench.run("gatt", Self.device, "read", "FFE1"), 64, saying: "reading FFE1",
                hint: "can't be read")
        }
    }

    @Test func `If the device is lost between two reads, no value is printed twice`() async throws {
        try await withThing { bench, thing in
            let reads = Watched(0)
            await thing.failOnce(reads)
            let ending = try await bench.run("gatt", Self.device, "read", "180F/2A19", "2A21")
            #expect(ending.status == 0 && ending.output == "2A19  64  \"d\"\n2A21  00 00\n", "\(ending)")
            #expect(reads.state == 2)
        }
    }

    @Test func `write uses the type that the flags permit, and reports whether the effect is known`() async throws {
        try await withThing { bench, thing in
            let steps: [([String], Int32, String)] = [
                (["2A21", "300", "--type", "u16"], 0, "written, confirmed by the device: 2c 01\n"),
                (["FFE1", "0x01"], 0, "sent, not confirmed by the device: 01\n"),
                (["2A21", "-2", "--type", "i16"], 0, "written, confirmed by the device: fe ff\n"),
                (["2A21", "0x01", "--no-response"], 64, ""), (["FFE1", "0x01", "--response"], 64, ""),
                (["2A19", "0x01"], 66, ""), (["char0002", "0x01"], 64, ""),
                (["FFE1", "0x" + String(repeating: "00", count: 21)], 64, ""),
            ]
            for (words, status, output) in steps {
                let ending = try await Pumpctl.start(
                    ["gatt", Self.device, "write"] + words, environment: bench.environment
                )
                .ending()
                #expect(ending.status == status && ending.output == output, "\(words): \(ending)")
            }
            #expect(thing.writes.state == ["2A21 [44, 1] true", "FFE1 [1] false", "2A21 [254, 255] true"])
            await Radio.run { thing.interval.onWrite = { _, _ in throw BlueZError.attribute(0x80) } }
            expectFailure(
                try await bench.run("gatt", Self.device, "write", "2A21", "0x01"), 1, saying: "ATT error 0x80")
            await Radio.run { thing.radio.manners.writesUntilLoss = 0 }
            let lost = try await bench.run("--json", "gatt", Self.device, "write", "2A21", "0x01")
            expectFailure(lost, 74, saying: "whether it was carried out is unknown")
            #expect(try lost.object()["outcome"] as? String == "unknown")
        }
    }

    @Test func `notify prints notifications up to --count or until the device is gone`() async throws {
        try await withThing { bench, thing in
            let program = try await bench.start(
                "gatt", Self.device, "notify", "180F/2A19", "--type", "u8", "--count", "2")
            _ = try await program.errors.text(upTo: "listening")
            await thing.level.notify([99])
            await thing.level.notify([98])
            let ending = try await program.ending()
            #expect(ending.status == 0, "\(ending)")
            let shown = ending.output.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
            #expect(shown == ["99", "98"])
            let endless = try await bench.start("gatt", Self.device, "notify", "180F/2A19", "--json")
            try await endless.errors.text(upTo: "listening")
            await thing.level.notify([1])
            let line = try await endless.output.line()
            #expect(line.contains("\"hex\":\"01\"") && line.contains("\"time\":\""))
            await thing.radio.dropLinks()
            expectFailure(try await endless.ending(), 74, saying: "the device is not connected", hint: "")
        }
    }

    @Test func `gatt refuses other devices and invalid arguments`() async throws {
        for words in [
            ["gatt", "/dev/ttyUSB0", "list"], ["gatt", "ble:x", "write", "2A19", "10"], ["gatt", "ble:x", "peek"],
            ["gatt", "ble:x", "list", "--count", "1"], ["gatt", "ble:x", "read", "2A19", "--no-response"],
            ["gatt", "ble:x", "read", "2A19", "--nonsense"], ["gatt", "-p", "ble:y", "ble:x", "list"],
        ] { expectFailure(try await Pumpctl.start(words).ending(), 64, hint: "") }
    }

    @Test func `gatt lets OFF through to a pump, and refuses lines that would set its speed by mistake`() async throws {
        let pump = try await BLEPump()
        #expect(try await pump.run("-p", "ble:HMSoft", "on").status == 0)
        let speed = try await pump.run("gatt", "ble:HMSoft", "write", "FFE1", "SPEED:fast\n", "--type", "text")
        expectFailure(speed, 64, saying: "would set the speed to 0", hint: "--force")
        let program = try await pump.start("gatt", "ble:HMSoft", "notify", "FFE1", "--type", "text")
        _ = try await program.errors.text(upTo: "listening")
        let off = try await pump.run("-p", "ble:HMSoft", "off")
        #expect(off.status == 0 && off.output == "pump off\n", "\(off)")
        #expect(await pump.duty() == nil)
        program.send(signal: 2)
        let ending = try await program.ending()
        #expect(ending.status == 130 && ending.output.contains("OFF"), "\(ending)")
    }
}
