import DescriptorIO
import FirmwareSim
import Foundation
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing

@Suite("pumpctl rescue")
struct MessageCommandTests {
    private let folder = TemporaryFolder()

    /// Runs the program with its own store of messages.
    private func run(_ arguments: String...) async throws -> ChildProcess.Ending {
        try await Pumpctl.start(arguments, environment: ["XDG_DATA_HOME": folder.path]).ending()
    }

    /// The stored messages, as `rescue list --json` prints them with these options.
    private func listed(_ options: String...) async throws -> [NSDictionary] {
        try await Pumpctl.start(
            ["--json", "rescue", "list"] + options, environment: ["XDG_DATA_HOME": folder.path]
        ).ending().objects()
    }

    /// The messages with these numbers of a simulated phone with the seed 7.
    private static func stock(_ range: Range<Int>) -> [PhoneMessage] { range.map { PhoneStock(seed: 7).message($0) } }

    /// The number of the first SOS message in ``stock(_:)``.
    private static func firstSOS() throws -> Int {
        try #require(stock(0..<100).firstIndex { $0.category == "SOS" })
    }

    @Test("--at accepts negative coordinates, and refuses coordinates that are out of range, with the range")
    func negativePlace() async throws {
        for place in ["-35.9,-79", "-.5,-0"] {
            let kept = try await run("rescue", "send", "--later", "--at", place, "x")
            #expect(kept.status == 0, "\(kept)")
        }
        let latitudes = try await listed().map { $0["latitude"] as? Double }
        #expect(latitudes == [-35.9, -0.5])
        for (place, words) in [
            ("91,0", "latitude must be from -90 to 90"), ("0,-181", "longitude must be from -180 to 180"),
            ("-1", "35.911595,-79.048759"),
        ] {
            let ending = try await run("rescue", "send", "--later", "--at", place, "x")
            expectFailure(ending, 64, saying: words, hint: "rescue send")
        }
    }

    @Test("Without pumpctl-record every command exits with 69 and a hint")
    func notInstalled() async throws {
        let program = folder.path("pumpctl")
        // `cp` makes the copy. If this process did, a child of another test could inherit the file open for writing,
        // and the copy could not be executed (ETXTBSY).
        #expect(try await ChildProcess(["cp", Executable.pumpctl, program]).ending().status == 0)
        for arguments in [
            ["listen", "-p", "sim:rescue"], ["sync", "-p", "sim:rescue"], ["list"],
            ["send", "--later", "--at", "1,2", "x"],
        ] {
            let ending = try await Pumpctl.start(["rescue"] + arguments, program: [program]).ending()
            expectFailure(ending, 69, saying: "pumpctl-record is not installed", hint: "make install")
        }
    }

    @Test("listen prints and stores each message once, despite splits and faults")
    func listen() async throws {
        let phone = "sim:rescue?seed=7&messages=20&interval=1ms&split=20&malformed=50"
        let ending = try await run("-p", phone, "rescue", "listen", "--count", "20")
        #expect(ending.status == 0, "\(ending)")
        let lines = ending.output.split(separator: "\n")
        #expect(lines.count == 20)
        for (line, message) in zip(lines, Self.stock(0..<20)) {
            #expect(line.hasSuffix("  \(message.latitude),\(message.longitude)  \(message.content)"))
            #expect(line.contains("  \(message.category) "))
        }
        #expect(ending.errors.contains("outside any message"))
        #expect(!ending.errors.contains("\u{1B}"))
        let again = try await run("-p", phone, "rescue", "listen", "--for", "1s")
        #expect(again.status == 0)
        #expect(again.output == "")
        let ids = try await listed().map { $0["id"] as? String }
        #expect(ids == Self.stock(0..<20).map(\.id.uuidString))
    }

    @Test("--until-sos ends with 0 at an SOS, which is its own event")
    func untilSOS() async throws {
        let index = try Self.firstSOS()
        let ending = try await run(
            "-p", "sim:rescue?seed=7&messages=100&interval=1ms", "--json", "rescue", "listen", "--until-sos")
        #expect(ending.status == 0)
        let events = try ending.objects()
        #expect(events.count > index)
        let sos = try #require(events.first { $0["event"] as? String == "sos" })
        #expect(sos["id"] as? String == PhoneStock(seed: 7).message(index).id.uuidString)
        #expect(events.prefix(index).allSatisfy { $0["event"] as? String == "message" })
    }

    @Test("--until-sos exits with 75 without an SOS in time")
    func noSOS() async throws {
        let ending = try await run("-p", "sim:rescue?messages=0", "rescue", "listen", "--until-sos", "--for", "0.1s")
        expectFailure(ending, 75, saying: "no SOS in 0.1 s")
    }

    @Test("An SOS rings the terminal's bell")
    func bell() async throws {
        let index = try Self.firstSOS()
        let terminal = try PseudoTerminal()
        let screen = Watched(ReceivedText())
        let channel = terminal.channel()
        await channel.gather(into: screen)
        let program = try await Pumpctl.start(
            [
                "-p", "sim:rescue?seed=7&messages=\(index + 1)&interval=1ms", "rescue", "listen", "--until-sos",
            ], environment: ["XDG_DATA_HOME": folder.path], terminal: terminal.path)
        try await screen.text(upTo: "\u{07}")
        #expect(try await program.ending().status == 0)
        await channel.close()
    }

    @Test("send sends a message and stores it as synced")
    func send() async throws {
        let device = try await ScriptedDevice()
        let ending = try await run(
            "-p", device.port, "--json", "rescue", "send", "--category", "sos", "--at", "35.911595,-79.048759",
            "\u{1B}[2J on the \"roof\"")
        #expect(ending.status == 0, "\(ending)")
        let record = try ending.object()
        #expect(record["status"] as? String == "synced")
        let sent = try await device.heard.wait(for: "a message") { PhoneMessage(json: $0.bytes) }
        #expect(sent.id.uuidString == record["id"] as? String)
        #expect(sent.content == "\u{1B}[2J on the \"roof\"")
        #expect([sent.category, sent.status] == ["SOS", "pending_sync"])
        #expect([sent.latitude, sent.longitude] == [35.911595, -79.048759])
        #expect(abs(sent.timestamp.timeIntervalSinceNow) < 600)
        #expect(try await listed("--status", "synced").count == 1)
        let text = try await run("rescue", "list")
        #expect(text.output.hasSuffix("  synced   SOS           35.911595,-79.048759  \\x1b[2J on the \"roof\"\n"))
        await device.close()
    }

    @Test("An unsent message is stored, and sync sends it")
    func sync() async throws {
        let failed = try await run("-p", "/dev/ttyNONE", "--json", "rescue", "send", "--at", "1,2", "one")
        expectFailure(failed, 66, saying: "no such port", hint: "rescue sync")
        #expect(try failed.object()["outcome"] as? String == "pending_sync")
        #expect(try await run("rescue", "send", "--later", "--at", "1,2", "two").status == 0)
        #expect(try await listed("--status", "pending_sync").count == 2)

        let device = try await ScriptedDevice()
        let ending = try await run("-p", device.port, "rescue", "sync")
        #expect(ending.output == "2 messages sent\n")
        let sent = try await device.heard.wait(for: "two messages") { heard in
            heard.text.contains("\"two\"") && heard.text.last == "}" ? heard.text : nil
        }
        #expect(sent.contains("\"one\""))
        #expect(try await listed("--status", "pending_sync").isEmpty)
        #expect(try await run("-p", device.port, "rescue", "sync").output == "0 messages sent\n")
        await device.close()
    }

    @Test("sync also receives, and ignores its own messages")
    func bothRoles() async throws {
        _ = try await run("rescue", "send", "--later", "--at", "1,2", "mine")
        let phone = "sim:rescue?seed=7&messages=3&interval=1ms"
        let ending = try await run("-p", phone, "--json", "rescue", "sync", "--for", "3s")
        let records = try ending.objects()
        #expect(records.dropLast().compactMap { $0["id"] as? String } == Self.stock(0..<3).map(\.id.uuidString))
        #expect(records.last?["synced"] as? Int == 1)
        #expect(
            try await listed().map { $0["status"] as? String } == ["synced"]
                + Array(repeating: "pending_sync", count: 3))
    }

    @Test("After a broken link no message is marked as synced")
    func brokenLink() async throws {
        _ = try await run("rescue", "send", "--later", "--at", "1,2", "mine")
        let device = try await ScriptedDevice()
        let program = try await Pumpctl.start(
            ["-p", device.port, "rescue", "sync", "--for", "60s"], environment: ["XDG_DATA_HOME": folder.path])
        _ = try await device.heard.wait(for: "the message") { $0.text.contains("mine") ? true : nil }
        await device.close()
        expectFailure(try await program.ending(), 74, saying: "gone", hint: "rescue sync")
        #expect(try await listed("--status", "pending_sync").count == 1)
    }

    @Test("Messages are printed without raw control characters in every format")
    func strangers() async throws {
        let device = try await ScriptedDevice()
        let program = try await Pumpctl.start(
            ["-p", device.port, "-v", "rescue", "listen", "--count", "1"], environment: ["XDG_DATA_HOME": folder.path])
        _ = try await program.errors.line("the open port")
        try await device.say(
            """
            \u{1B}]0;x\u{07}{"id":"6F1E2C1A-0B7B-4C0E-9A77-0E2A6E6D2B11","content":"=1+1\\u001b[2J\\u009b1m\\u202e\u{9B}\u{7F}\\n",\
            "latitude":1,"longitude":2,"timestamp":0,"status":"pending_sync","category":"\\u001bc, \\"x\\"","hops":[3]}
            """)
        var outputs = [try await program.ending()]
        outputs += [try await run("rescue", "list"), try await run("rescue", "list", "--csv")]
        outputs += [try await run("--json", "rescue", "list"), try await run("rescue", "export")]
        for ending in outputs {
            #expect(ending.status == 0, "\(ending)")
            for scalar in (ending.output + ending.errors).unicodeScalars where scalar != "\n" {
                #expect(scalar.isPrintable, "\(ending)")
            }
        }
        #expect(outputs[1].output.contains("=1+1\\x1b[2J\\x9b1m\\u{202e}"))
        #expect(outputs[2].output.contains(",\"\\x1bc, \"\"x\"\"\",1.0,2.0,'=1+1\\x1b[2J"))
        #expect(try outputs[3].object()["content"] as? String == "=1+1\u{1B}[2J\u{9B}1m\u{202E}\u{9B}\u{7F}\n")
        #expect(try outputs[4].object()["hops"] as? [Int] == [3])
        await device.close()
    }

    @Test("export writes to a file, and list filters by category")
    func export() async throws {
        for category in ["Shelter", "road closure"] {
            _ = try await run("rescue", "send", "--later", "--category", category, "--at", "1,2", "x")
        }
        #expect(try await listed("--category", "Road Closure").count == 1)
        let path = folder.path("messages.json")
        #expect(try await run("rescue", "export", "-o", path).output == "")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.compactMap { PhoneMessage(json: Array($0.utf8))?.category } == ["Shelter", "Road Closure"])
    }

    @Test("listen waits for an unplugged phone to come back")
    func reconnects() async throws {
        let path = folder.path("phone")
        func start(seed: Int) async throws -> ChildProcess {
            let sim = try await Pumpctl.start([
                "sim", "rescue", "--link", path, "--interval", "20ms", "--seed", "\(seed)", "--messages", "1000",
            ])
            _ = try await sim.output.line("the phone's port")
            return sim
        }
        let first = try await start(seed: 7)
        let program = try await Pumpctl.start(
            ["-p", path, "rescue", "listen"], environment: ["XDG_DATA_HOME": folder.path])
        _ = try await program.output.line("a message")
        first.send(signal: SIGTERM)
        try await first.ending()
        #expect(try await program.errors.text(upTo: "waiting for the device").contains("gone"))
        program.output.update { $0.bytes = [] }
        let second = try await start(seed: 8)
        try await program.errors.text(upTo: "is back")
        _ = try await program.output.line("a message of the second")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        second.send(signal: SIGTERM)
        try await second.ending()
    }

    @Test("An unwritable or missing folder is reported")
    func noPlace() async throws {
        let place = ["HOME": "/proc"]
        let kept = try await Pumpctl.run("rescue", "send", "--later", "--at", "1,2", "x", environment: place)
        expectFailure(kept, 74, saying: "/proc", hint: "XDG_DATA_HOME")
        let heard = try await Pumpctl.run("-p", "sim:rescue", "rescue", "listen", environment: place)
        expectFailure(heard, 74, saying: "/proc", hint: "XDG_DATA_HOME")
        let listed = try await Pumpctl.run("rescue", "list", environment: place)
        #expect(listed.status == 0)
        #expect(listed.output + listed.errors == "")
        let homeless = try await Pumpctl.run("rescue", "list", environment: ["HOME": ""])
        expectFailure(homeless, 66, saying: "HOME", hint: "XDG_DATA_HOME")
        // A missing home folder is a mistake or an unmounted disk, so it is not created.
        let missing = folder.path + "/missing"
        let nowhere = try await Pumpctl.run(
            "rescue", "send", "--later", "--at", "1,2", "x", environment: ["HOME": missing])
        expectFailure(nowhere, 66, saying: "HOME", hint: "XDG_DATA_HOME")
        #expect(access(missing, F_OK) != 0)
    }

    @Test(
        "Invalid arguments are refused",
        arguments: [
            ["send", "x"], ["send", "--at", "91,2", "x"], ["send", "--at", "nan,2", "x"], ["send", "--at", "1", "x"],
            ["send", "--at", "1,2", "--category", "Party", "x"], ["listen", "--count", "0"],
            ["list", "--csv", "--json"],
            ["listen", "--count", "1", "--until-sos"], ["list", "--status", "lost"], ["--family", "pump", "list"],
            ["send", "--at", "1,2", String(repeating: "x", count: 5000)],
        ])
    func wrongWords(words: [String]) async throws {
        let ending = try await Pumpctl.start(
            ["-p", "sim:rescue", "rescue"] + words, environment: ["XDG_DATA_HOME": folder.path]
        ).ending()
        expectFailure(ending, 64, hint: "")
    }
}
