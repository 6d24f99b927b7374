import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

/// Each printed message must be stored, even if programs are killed, or if the database can't be written at first.
@Suite("Stored rescue messages", .timeLimit(.minutes(5)))
struct MessageRecordTests {
    private let home = TemporaryFolder()
    private var environment: [String: String] { ["XDG_DATA_HOME": home.path] }

    private func start(_ arguments: String..., program: [String] = [Executable.pumpctl]) async throws -> ChildProcess {
        try await Pumpctl.start(arguments, environment: environment, program: program)
    }

    /// The IDs of the stored messages.
    private func keptIDs() async throws -> [String] {
        try await start("--json", "rescue", "list").ending().objects().compactMap { $0["id"] as? String }
    }

    /// The IDs of the messages that a program has printed as JSON.
    private func toldIDs(_ output: String) -> [String] {
        output.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
            return object?["event"] as? String == "malformed" ? nil : object?["id"] as? String
        }
    }

    /// Waits until a program has printed `count` lines.
    private func lines(_ count: Int, of program: ChildProcess) async throws {
        _ = try await program.output.wait(for: "\(count) lines") { $0.bytes.count { $0 == 0x0A } >= count ? true : nil }
    }

    /// A message with `number` in its ID and its text, as a phone sends it.
    private static func json(_ number: Int, category: String = "Other") -> String {
        let json = #"{"id":"6F1E2C1A-0B7B-4C0E-9A77-%012d","content":"no. %d","latitude":1,"longitude":2,"#
        return String(format: json, number, number)
            + #""timestamp":0,"status":"pending_sync","category":"\#(category)"}"#
    }

    @Test("After kill -9 every printed message is stored, and each message once")
    func killed() async throws {
        var told: Set<String> = []
        for round in 0..<16 {
            let program = try await start(
                "--json", "-p", "sim:rescue?seed=\(round)&messages=10000&interval=1ms&split=300&unpaced", "rescue",
                "listen")
            // The kill comes after another number of messages in each round, from 1 to 19.
            try await lines(1 + round * 7 % 20, of: program)
            // In odd rounds, pumpctl-record is killed instead of pumpctl.
            if round % 2 == 0 {
                program.send(signal: SIGKILL)
            } else {
                kill(try #require(Self.child(of: program)), SIGKILL)
                try await program.errors.text(upTo: "messages are kept again")
                program.send(signal: SIGINT)
            }
            let ids = toldIDs(try await program.ending().output)
            #expect(Set(ids).count == ids.count)
            #expect(ids == Self.stock(round).prefix(ids.count).map(\.id.uuidString))
            told.formUnion(ids)
        }
        let kept = try await keptIDs()
        #expect(told.subtracting(kept) == [])
        #expect(Set(kept).count == kept.count)
    }

    /// The messages of a simulated phone with this seed.
    private static func stock(_ seed: Int) -> [PhoneMessage] {
        (0..<10_000).map { PhoneStock(seed: UInt64(seed)).message($0) }
    }

    /// The process ID of the first child of a program; nil if there is none.
    private static func child(of program: ChildProcess) -> pid_t? {
        let tasks = "/proc/\(program.processID)/task"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        let children = names.compactMap { try? String(contentsOfFile: "\(tasks)/\($0)/children", encoding: .utf8) }
        return children.joined().split(separator: " ").first.flatMap { pid_t($0) }
    }

    @Test("Several programs store messages at once while others list them")
    func several() async throws {
        var programs: [ChildProcess] = []
        for seed in [1, 2, 3] {
            programs.append(
                try await start(
                    "-p", "sim:rescue?seed=\(seed)&messages=150&interval=1ms", "rescue", "listen", "--count", "150"))
        }
        for program in programs { try await lines(1, of: program) }
        #expect(try await keptIDs().count >= 3)
        for program in programs { #expect(try await program.ending().status == 0) }
        let kept = try await keptIDs()
        #expect(kept.count == 450)
        for seed in [1, 2, 3] {
            let ids = Self.stock(seed).prefix(150).map(\.id.uuidString)
            #expect(kept.filter(Set(ids).contains) == ids)
        }
    }

    @Test("Messages received while the database is locked are shown, and stored once it is unlocked")
    func locked() async throws {
        let device = try await ScriptedDevice()
        let program = try await start("--json", "-v", "-p", device.port, "rescue", "listen")
        _ = try await program.errors.line("the open port")
        try await device.say(Self.json(1))
        try await lines(1, of: program)

        let holder = try await RecordLock(of: home)
        try await device.say(Self.json(2, category: "SOS"))
        let errors = try await program.errors.text(upTo: "not kept: ")
        #expect(errors.contains("locked by another program"))
        #expect(errors.contains("hint: find the program that locks the record, and close it there: fuser -v "))
        try await device.say(Self.json(3))
        try await program.errors.text(upTo: "no. 3")
        #expect(program.output.state.bytes.count { $0 == 0x0A } == 1, "only stored messages are on standard output")
        try await holder.end()
        try await program.errors.text(upTo: "messages are kept again")
        try await lines(3, of: program)
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        #expect(ending.status == 130)
        #expect(try ending.objects().map { $0["event"] as? String } == ["message", "sos", "message"])
        #expect(try await keptIDs() == toldIDs(ending.output))
        await device.close()
    }

    @Test("On a full disk listen goes on and reports only stored messages as received")
    func fullDisk() async throws {
        // The limit on the size of files is in blocks of 512 bytes.
        let limited = ["/bin/sh", "-c", "ulimit -f 400; exec \"$0\" \"$@\"", Executable.pumpctl]
        let program = try await start(
            "--json", "-p", "sim:rescue?seed=7&messages=10000&interval=1ms", "rescue", "listen", program: limited)
        let first = try await program.errors.text(upTo: "not kept: ")
        #expect(first.contains("the disk is full"))
        #expect(first.contains("ulimit -f"))
        // New messages are still shown, on standard error.
        for _ in 0..<3 { try await program.errors.text(upTo: "not kept: ") }
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        #expect(ending.status == 130)
        let told = toldIDs(ending.output)
        #expect(!told.isEmpty)
        #expect(try await keptIDs() == told)
    }

    @Test("send sends a message that cannot be stored, with a note, and send --later fails")
    func sentUnkept() async throws {
        #expect(try await start("rescue", "send", "--later", "--at", "1,2", "first").ending().status == 0)
        let holder = try await RecordLock(of: home)
        let device = try await ScriptedDevice()
        let ending = try await start("-p", device.port, "rescue", "send", "--category", "sos", "--at", "1,2", "help")
            .ending()
        #expect(ending.status == 0, "\(ending)")
        #expect(ending.errors.contains("; sending it anyway"))
        _ = try await device.heard.wait(for: "the message") { $0.text.contains("help") ? true : nil }
        let later = try await start("rescue", "send", "--later", "--at", "1,2", "second").ending()
        expectFailure(later, 69, saying: "locked", hint: "fuser -v ")
        try await holder.end()
        #expect(try await keptIDs().count == 1)
        await device.close()
    }

    @Test("A damaged database is reported before anything is received")
    func damaged() async throws {
        try home.makeFolder("pumpctl")
        _ = home.write(String(repeating: "This is no database. ", count: 500), to: "pumpctl/record.sqlite")
        for arguments in [
            ["listen", "-p", "sim:rescue"], ["sync", "-p", "sim:rescue"], ["list"], ["export"],
            ["send", "--later", "--at", "1,2", "x"],
        ] {
            let ending = try await Pumpctl.start(["rescue"] + arguments, environment: environment).ending()
            expectFailure(ending, 74, saying: "damaged", hint: "move the file away")
        }
    }
}

/// A program that locks the record of a user whose data is in a folder.
struct RecordLock {
    private let holder: ChildProcess

    init(of folder: TemporaryFolder) async throws {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            sys.stdin.read()
            """
        holder = try await ChildProcess(["python3", "-c", script, folder.path("pumpctl/record.sqlite")])
        _ = try await holder.output.line("the lock")
    }

    func end() async throws {
        await holder.closeInput()
        try await holder.ending()
    }
}
