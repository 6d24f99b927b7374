import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl peer host and images of peers", .timeLimit(.minutes(5)))
struct PeerHostTests {
    /// The offered peer, as another program finds it by the first adapter.
    private static let port = "ble:QDevice1?adapter=hci0"

    /// Writes a PNG of 90,000 bytes to `folder`, more than pumpctl queues for a slow reader.
    private func png(in folder: TemporaryFolder, _ name: String = "a photo.png") throws -> (path: String, file: Data) {
        let (path, file) = (folder.path(name), Data(PeerPicture(seed: 3, byteCount: 90_000).bytes))
        try file.write(to: URL(filePath: path))
        return (path, file)
    }

    @Test("Lines from a pipe reach subscribers in order, and received messages are printed")
    func piped() async throws {
        try await withRadioBench(mtu: 100) { bench in
            let folder = TemporaryFolder()
            let (path, file) = try png(in: folder)
            let host = try await bench.start(["peer", "host", "--image", path, "--adapter", "hci1"])
            #expect(try await host.output.line() == "BLE on hci1 (\(RadioBench.second))")
            let texts = (0..<200).map { "message number \($0)" }
            let rain = String(repeating: "雨", count: 40)
            try await host.write((texts + ["on", "IMG_END", rain]).map { $0 + "\n" }.joined())
            try await host.errors.text(upTo: "not sent: IMG_END")
            // 204 events: the greeting, 200 texts, the toggle, and the last message in two notifications.
            let listening = try await bench.run("-p", Self.port, "--json", "peer", "listen", "--count", "204")
            let events = try listening.objects()
            let heard = events.compactMap { $0["text"] as? String }
            // The last message has 120 bytes. At an MTU of 100, a notification has at most 97, or 32 such characters.
            #expect(heard == texts + [String(rain.prefix(32)), String(rain.prefix(8))])
            #expect(events.compactMap { $0["toggle"] as? String } == ["on"])
            let output = folder.path("got.png")
            let image = try await bench.run("-p", Self.port, "--json", "peer", "image", "get", "-o", output)
            #expect(try image.object()["name"] as? String == "a photo.png", "\(image)")
            #expect(try Data(contentsOf: URL(filePath: output)) == file)
            #expect(try await bench.run("-p", Self.port, "peer", "say", "Grüße").output == "sent\n")
            try await host.output.text(upTo: "text  Grüße\n")
            #expect(try await bench.run("-p", Self.port, "peer", "toggle", "off").status == 0)
            try await host.output.text(upTo: "toggle off\n")
            // pumpctl waits until the previous command's connection is over.
            let write = ["gatt", Self.port, "write", "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", "0x61ff00"]
            let written = try await bench.start(write).ending()
            #expect(written.status == 0, "\(written)")
            try await host.output.text(upTo: "bytes 61 ff 00\n")
            host.send(signal: SIGINT)
            #expect(try await host.ending().status == 130)
            #expect(await !bench.adapters[1].ownRadio.isAdvertising)
        }
    }

    @Test("On a terminal received messages leave the typed line intact, and Ctrl-C restores the terminal")
    func typed() async throws {
        let (home, terminal) = (ConsoleFolder(), try ConsoleTerminal())
        let program = try ConsoleProgram(["peer", "host", "--link", home.port], home: home, on: terminal)
        try await terminal.wait(program, forLastRow: ">")
        program.type("good evning\u{1B}[D\u{1B}[D\u{1B}[D\u{1B}[D")
        try await terminal.wait(program, forLastRow: "> good evning")
        #expect(try await Pumpctl.run("-p", home.port, "peer", "say", "good morning").output == "sent\n")
        try await terminal.wait(program) {
            $0.rows.contains("text  good morning") && $0.rows.last == "> good evning"
                && $0.rows.contains("* no central is subscribed any more")
        }
        program.type("e\r")
        try await terminal.wait(program, for: "* no central is subscribed; typed lines are queued")
        let heard = try await Pumpctl.run("-p", home.port, "--json", "peer", "listen", "--count", "2")
        #expect(try heard.objects().last?["text"] as? String == "good evening")
        program.type("\u{03}")
        #expect(try await program.exitStatus() == 130)
        #expect(terminal.isAsItWas)
    }

    @Test("sim peer sends the file of --image")
    func simulated() async throws {
        let folder = TemporaryFolder()
        let (path, file) = try png(in: folder)
        let sim = try await Pumpctl.start(["sim", "peer", "--unpaced", "--image", path, "--link", folder.path("peer")])
        _ = try await sim.output.line("the peer's port")
        let output = folder.path("got.png")
        #expect(try await Pumpctl.run("-p", folder.path("peer"), "peer", "image", "get", "-o", output).status == 0)
        #expect(try Data(contentsOf: URL(filePath: output)) == file)
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test("A file that cannot be sent is refused at the start", arguments: [["sim", "peer"], ["peer", "host"]])
    func badFiles(command: [String]) async throws {
        let folder = TemporaryFolder()
        func run(_ path: String) async throws -> ChildProcess.Ending {
            try await Pumpctl.start(command + ["--pty", "--image", path]).ending()
        }
        let missing = folder.path("missing.png")
        expectFailure(try await run(missing), 66, saying: missing, hint: "")
        expectFailure(try await run(folder.path), 66, saying: folder.path, hint: "")
        let text = folder.path("text.png")
        try Data("GIF89a".utf8).write(to: URL(filePath: text))
        expectFailure(try await run(text), 64, saying: "\(text) is not a PNG", hint: "name a PNG")
        let large = folder.path("large.png")
        try Data(PeerPicture.signature + [UInt8](repeating: 0, count: PeerFirmwareOptions.largestImage))
            .write(to: URL(filePath: large))
        expectFailure(try await run(large), 64, saying: "larger than 5250000 bytes", hint: "smaller")
    }

    @Test("Without an image a request is refused, and conflicting options are usage errors")
    func options() async throws {
        let folder = TemporaryFolder()
        let host = try await Pumpctl.start(["peer", "host", "--link", folder.path("peer")])
        _ = try await host.output.line("the peer's port")
        let image = try await Pumpctl.run(
            "-p", folder.path("peer"), "peer", "image", "get", "-o", folder.path("got.png"))
        expectFailure(image, 1, saying: "no_file_selected")
        host.send(signal: SIGTERM)
        #expect(try await host.ending().status == 143)
        for wrong in [["--port", "x"], ["--pty", "--adapter", "hci0"], ["--tcp", "0", "--pty"]] {
            expectFailure(try await Pumpctl.start(["peer", "host"] + wrong).ending(), 64, hint: "peer host")
        }
        let both = try await Pumpctl.run("sim", "peer", "--image", "a.png", "--size", "1000")
        expectFailure(both, 64, saying: "--image cannot be combined with", hint: "sim peer")
    }
}
