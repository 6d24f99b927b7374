import Foundation
import TestSupport
import Testing

@Suite("pumpctl peer listen")
struct PeerListenTests {
    /// Runs `peer listen` with a peer that sends `speech` after Hello, until `count` events were printed.
    private func show(_ speech: [UInt8], count: Int, _ options: String...) async throws -> ChildProcess.Ending {
        let peer = try await ScriptedDevice()
        let program = try await Pumpctl.start(["-p", peer.port, "peer", "listen", "--count", "\(count)"] + options)
        _ = try await peer.heard.wait(for: "Hello") { $0.text == "Hello\n" ? true : nil }
        try await peer.say(speech)
        let ending = try await program.ending()
        await peer.close()
        return ending
    }

    /// A line of each kind of event; the last IMG_BEGIN is malformed.
    private static let speech = """
        HELLO from bench @ 2025-01-31T16:04:05Z\r
        Hello ack\r
        Grüße\r
        off\r
        IMG_BEGIN a.png 3\r
        AAAA\r
        IMG_END\r
        IMG_ERROR not_png\r
        IMG_BEGIN\r

        """

    @Test("Each event is printed as a line")
    func text() async throws {
        let ending = try await show(Array(Self.speech.utf8), count: 8)
        #expect(ending.status == 0)
        #expect(
            ending.output == """
                greeting from bench, whose time is 2025-01-31T16:04:05Z
                Hello acknowledged
                text  Grüße
                toggle off
                image a.png, 3 bytes
                image is complete
                no image: not_png
                image failed: begin_bad_format

                """)
    }

    @Test("--json prints the documented keys")
    func json() async throws {
        let records = try await show(Array(Self.speech.utf8), count: 8, "--json").objects()
        #expect(
            records.map { $0["event"] as? String } == [
                "greeting", "acknowledged", "text", "toggle", "image_begins", "image_ends", "image_refused",
                "image_failed",
            ])
        for record in records { #expect(record["time"] is String) }
        #expect(records[0]["host"] as? String == "bench")
        #expect(records[0]["host_time"] as? String == "2025-01-31T16:04:05Z")
        #expect(records[2]["text"] as? String == "Grüße")
        #expect(records[2]["characters"] as? Int == 5)
        #expect(records[3]["toggle"] as? String == "off")
        #expect(records[4]["file"] as? String == "a.png")
        #expect(records[4]["bytes"] as? Int == 3)
        #expect(records[6]["error"] as? String == "not_png")
        #expect(records[7]["error"] as? String == "begin_bad_format")
    }

    @Test("Bytes that are not UTF-8 are printed in hexadecimal")
    func bytes() async throws {
        let speech: [UInt8] = [0xFF, 0x00, 0x41, 0x0A]
        #expect(try await show(speech, count: 1).output == "bytes ff 00 41\n")
        let record = try await show(speech, count: 1, "--json").object()
        #expect(record["event"] as? String == "bytes")
        #expect(record["hex"] as? String == "ff 00 41")
    }

    @Test("Control and bidirectional characters are escaped")
    func escapes() async throws {
        let speech =
            "\u{1B}]0;mine\u{7} \u{9B}2J \0 \u{202E}txt\u{2028}\nIMG_ERROR \u{1B}c\nHELLO from \u{8}x @ \u{7F}\n"
        let ending = try await show(Array(speech.utf8), count: 3)
        #expect(
            ending.output == #"""
                text  \x1b]0;mine\x07 \x9b2J \x00 \u{202e}txt\u{2028}
                no image: \x1bc
                greeting from \x08x, whose time is \x7f

                """#)
    }

    @Test("A message is printed up to 500 characters, and in full with --json")
    func long() async throws {
        let text = String(repeating: "雨", count: 612)
        let speech = Array((text + "\n").utf8)
        let shown = String(repeating: "雨", count: 500)
        #expect(try await show(speech, count: 1).output == "text  \(shown)… (the first 500 of 612 characters)\n")
        #expect(try await show(speech, count: 1, "--json").object()["text"] as? String == text)
        let bytes = [UInt8](repeating: 0xFF, count: 501)
        let output = try await show(bytes + [0x0A], count: 1).output
        #expect(output.hasSuffix("ff ff … (the first 500 of 501 bytes)\n"))
        #expect(output.split(separator: " ").filter { $0 == "ff" }.count == 500)
    }

    @Test("--for ends listening with status 0, Ctrl-C with 130")
    func ends() async throws {
        let ending = try await Pumpctl.run("-p", "sim:peer", "peer", "listen", "--for", "0.1s")
        #expect(ending.status == 0)
        #expect(ending.errors == "")
        let program = try await Pumpctl.start(["-p", "sim:peer?interval=20ms&name=bench&acks", "peer", "listen"])
        #expect(try await program.output.line().hasPrefix("greeting from bench"))
        var missing: Set = [
            "Hello acknowledged", "text  Good morning from the other side of the bench", "text  Grüße ☂ 雨",
        ]
        while !missing.isEmpty { missing.remove(try await program.output.line("\(missing)")) }
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
    }

    @Test("listen waits for an unplugged peer to come back")
    func reconnects() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("peer")
        func start() async throws -> ChildProcess {
            let sim = try await Pumpctl.start(["sim", "peer", "--acks", "--link", path])
            _ = try await sim.output.line("the peer's port")
            return sim
        }
        let first = try await start()
        let program = try await Pumpctl.start(["-p", path, "--json", "peer", "listen"])
        func event(_ name: String) async throws {
            while !(try await program.output.line(name).contains("\"\(name)\"")) {}
        }
        try await event("acknowledged")
        first.send(signal: SIGTERM)
        try await first.ending()
        try await event("lost")
        let second = try await start()
        try await event("back")
        try await event("acknowledged")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        second.send(signal: SIGTERM)
        try await second.ending()
    }

    @Test("An image cut off by a lost link is reported as failed")
    func cutOff() async throws {
        let folder = TemporaryFolder()
        let peer = try await ScriptedDevice()
        // pumpctl waits for the return of a pseudo-terminal only if its endpoint is a symbolic link.
        let link = folder.path("peer")
        try #require(symlink(peer.port, link) == 0)
        let program = try await Pumpctl.start(["-p", link, "peer", "listen"])
        _ = try await peer.heard.wait(for: "Hello") { $0.text == "Hello\n" ? true : nil }
        try await peer.say("IMG_BEGIN a.png 6\nAAAA\nhal")
        #expect(try await program.output.line() == "image a.png, 6 bytes")
        await peer.close()
        #expect(try await program.output.line() == "text  hal")
        #expect(try await program.output.line() == "image failed: base64_invalid")
        #expect(try await program.errors.line().contains("waiting for the device to come back"))
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
    }
}
