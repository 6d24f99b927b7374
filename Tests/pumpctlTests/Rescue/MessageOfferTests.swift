import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl rescue --offer", .timeLimit(.minutes(5)))
struct MessageOfferTests {
    /// Stores messages to be sent later, by `rescue send --later`.
    private func keep(_ texts: String..., in folder: TemporaryFolder, on bench: RadioBench) async throws {
        for text in texts {
            let ending = try await bench.run("rescue", "send", "--later", "--at", "1,2", text, in: folder)
            #expect(ending.status == 0, "\(ending)")
        }
    }

    /// The status of each stored message, by its text.
    private func kept(in folder: TemporaryFolder, on bench: RadioBench) async throws -> [String: String] {
        let objects = try await bench.run("--json", "rescue", "list", in: folder).objects()
        return Dictionary(
            uniqueKeysWithValues: objects.map { ($0["content"] as? String ?? "", $0["status"] as? String ?? "") })
    }

    @Test("sync sends waiting messages to a subscriber and ends", arguments: [517, 23])
    func sync(mtu: Int) async throws {
        try await withRadioBench(mtu: mtu) { bench in
            let folder = TemporaryFolder()
            try await keep("one", "two", "three", in: folder, on: bench)
            let sync = try await bench.start(
                ["rescue", "sync", "--offer", "--adapter", "hci1", "--name", "Bench"], in: folder)
            let central = try await TestCentral(on: bench.bus.address, for: RadioBench.second)
            #expect(try await central.find() == "Bench")
            try await central.connect()
            #expect(try await Set(central.flags("FFF1")) == ["write", "notify"])
            try await central.subscribe("FFF1")
            let ending = try await sync.ending()
            #expect(ending.status == 0, "\(ending)")
            #expect(ending.output == "3 messages sent\n")
            #expect(ending.errors.contains("Bench is offered on hci1 (\(RadioBench.second))"))
            let contents = try await central.notes.wait(for: "three messages") { notes in
                let text = String(decoding: notes.values.values.flatMap(\.self).joined(), as: UTF8.self)
                let contents = text.matches(of: /"content":"(\w+)"/).map { String($0.1) }
                return contents.count == 3 && text.last == "}" ? contents : nil
            }
            #expect(contents == ["one", "two", "three"])
            #expect(try await kept(in: folder, on: bench).values.allSatisfy { $0 == "synced" })
            try await central.isHungUpOn()
            #expect(await !bench.adapters[1].ownRadio.isAdvertising)
            await central.close()
            // If there is no message to hand on, sync does not wait for phones.
            let again = try await bench.run("rescue", "sync", "--offer", in: folder)
            #expect(again.output == "0 messages sent\n" && again.errors == "", "\(again)")
        }
    }

    @Test("sync without a subscriber exits with 75 and keeps its messages")
    func nobody() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            try await keep("one", in: folder, on: bench)
            let ending = try await bench.run("rescue", "sync", "--offer", "--for", "0.5s", in: folder)
            expectFailure(ending, 75, saying: "0 messages sent in 0.5 s, 1 still pending", hint: "bring a phone near")
            #expect(try await kept(in: folder, on: bench) == ["one": "pending_sync"])
        }
    }

    @Test("listen stores received messages, and does not send them back to their sender")
    func listen() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            try await keep("mine", in: folder, on: bench)
            let listening = try await bench.start(
                ["--json", "rescue", "listen", "--offer", "--adapter", "hci1", "--until-sos"], in: folder)
            _ = try await listening.output.text(upTo: "\"port\":\"ble:\(RadioBench.second)\"}\n")
            let central = try await bench.central()
            let theirs = (0..<100).map { PhoneStock(seed: 8).message($0) }
            let sos = try #require(theirs.first { $0.category == "SOS" })
            let other = try #require(theirs.first { $0.category != "SOS" })
            // The central writes before it subscribes, and in one write that is longer than a packet.
            try await central.write(other.json, to: "FFF1")
            #expect(try await listening.output.line().contains("\"event\":\"message\""))
            try await central.subscribe("FFF1")
            #expect(
                try await listening.output.line()
                    == #"{"count":1,"event":"handed_on","port":"ble:\#(RadioBench.first)"}"#)
            let heard = try await central.hears("}", of: "FFF1")
            #expect(heard.contains("\"mine\"") && !heard.contains(other.id.uuidString))
            try await central.write(sos.json, to: "FFF1")
            let ending = try await listening.ending()
            #expect(ending.status == 0 && ending.output.contains("\"event\":\"sos\""), "\(ending)")
            #expect(
                try await kept(in: folder, on: bench)
                    == ["mine": "synced", other.content: "pending_sync", sos.content: "pending_sync"])
            await central.close()
        }
    }

    @Test("Two listening programs exchange their messages once")
    func bothRoles() async throws {
        try await withRadioBench { bench in
            let folders = [TemporaryFolder(), TemporaryFolder()]
            let texts = ["of the first", "of the second"]
            for (folder, text) in zip(folders, texts) { try await keep(text, in: folder, on: bench) }
            func start(_ number: Int, port: String) async throws -> ChildProcess {
                let program = try await bench.start(
                    [
                        "--json", "-p", "ble:\(port)?adapter=hci\(number)", "rescue", "listen", "--offer", "--adapter",
                        "hci\(number)",
                    ], in: folders[number])
                #expect(try await program.output.line().contains("\"event\":\"offered\""))
                return program
            }
            let programs = [
                try await start(0, port: RadioBench.second), try await start(1, port: RadioBench.first),
            ]
            for (program, text) in zip(programs, texts.reversed()) {
                var events: Set<String> = []
                while events != ["handed_on", "message"] {
                    let line = try await program.output.line("an event")
                    let object = try #require(
                        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
                    let event = try #require(object["event"] as? String, "\(line)")
                    guard ["handed_on", "message"].contains(event) else { continue }
                    #expect(events.insert(event).inserted, "\(line)")
                    if event == "message" { #expect(object["content"] as? String == text) }
                }
            }
            for program in programs {
                program.send(signal: SIGINT)
                #expect(try await program.ending().status == 130)
            }
            #expect(try await kept(in: folders[0], on: bench) == [texts[0]: "synced", texts[1]: "pending_sync"])
            #expect(try await kept(in: folders[1], on: bench) == [texts[1]: "synced", texts[0]: "pending_sync"])
        }
    }

    @Test("Messages from a port are relayed to subscribers")
    func relayed() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            let program = try await bench.start(
                [
                    "--json", "-p", "sim:rescue?seed=7&messages=3&interval=200ms", "rescue", "listen", "--offer",
                    "--adapter", "hci1",
                ], in: folder)
            _ = try await program.output.text(upTo: "\"event\":\"offered\"")
            let central = try await bench.central()
            try await central.subscribe("FFF1")
            let stock = (0..<3).map { PhoneStock(seed: 7).message($0) }
            let text = try await central.notes.wait(for: "three messages") { notes in
                let text = String(decoding: notes.values.values.flatMap(\.self).joined(), as: UTF8.self)
                return stock.allSatisfy { text.contains($0.id.uuidString) } ? text : nil
            }
            #expect(text.matches(of: /"id":/).count == 3)
            _ = try await program.output.wait(for: "what was handed on") { output in
                let counts = output.text.matches(of: /"count":(\d+),"event":"handed_on"/).compactMap { Int($0.1) }
                return counts.reduce(0, +) == 3 ? true : nil
            }
            program.send(signal: SIGTERM)
            #expect(try await program.ending().status == 143)
            #expect(try await kept(in: folder, on: bench).values.allSatisfy { $0 == "synced" })
            await central.close()
        }
    }

    @Test("sync --offer with a port sends over the port, and is also offered over BLE")
    func port() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            try await keep("mine", in: folder, on: bench)
            let ending = try await bench.run(
                "--json", "-p", "sim:rescue?messages=0", "rescue", "sync", "--offer", in: folder)
            #expect(ending.status == 0, "\(ending)")
            #expect(try ending.objects().first?["event"] as? String == "offered")
            #expect(try ending.objects().last?["synced"] as? Int == 1)
            #expect(try await kept(in: folder, on: bench) == ["mine": "synced"])
        }
    }

    @Test("Failures of --offer name their cause and a hint")
    func refused() async throws {
        try await withRadioBench { bench in
            let folder = TemporaryFolder()
            let adapter = try await bench.run("rescue", "listen", "--offer", "--adapter", "hci9", in: folder)
            expectFailure(
                adapter, 66, saying: "Bluetooth adapter not found", hint: "choose one of: hci0, hci1")
            let name = try await bench.run(
                "rescue", "listen", "--offer", "--name", String(repeating: "n", count: 30), in: folder)
            expectFailure(name, 64, saying: "30 bytes", hint: "choose a shorter name")
            let alone = try await bench.run("rescue", "listen", "--adapter", "hci0", in: folder)
            expectFailure(alone, 64, saying: "--offer", hint: "")
        }
    }
}
