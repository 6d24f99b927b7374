import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("pumpctl storm log live")
struct LogLiveTests {
    /// A simulated sensor whose log has 100 rows, and that measures another one every 20 ms.
    private static let sensor = "sim:storm?seed=7&rows=100&interval=20ms"

    /// The first rows that the sensor measures after its start.
    private static func rows(_ count: Int) -> [String] {
        let text = String(decoding: StormLog(seed: 7).text(rows: 100..<100 + count), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test("Rows are printed as measured, up to --count")
    func text() async throws {
        let ending = try await Pumpctl.run("-p", Self.sensor, "storm", "log", "live", "--count", "3")
        #expect(ending.status == 0)
        #expect(ending.output == Self.rows(3).map { $0 + "\n" }.joined())
        #expect(ending.errors == "")
    }

    @Test(
        "A device of another family is reported once",
        arguments: [["storm", "log", "live"], ["rescue", "listen"], ["peer", "listen"]])
    func otherDevice(words: [String]) async throws {
        let (folder, pump) = (TemporaryFolder(), try await ScriptedDevice())
        let program = try await Pumpctl.start(
            ["-v", "-p", pump.port] + words, environment: ["XDG_DATA_HOME": folder.path])
        _ = try await program.errors.line("the open port")
        try await pump.say("STATUS:{State:OFF,WaterTemp:12.0C}\r\n")
        try await program.errors.text(upTo: "warning: \(pump.port): this looks like a pump: STATUS:{State:OFF")
        try await program.errors.text(upTo: "hint: use a command of the family pump")
        try await pump.say("STATUS:{State:ON,Speed:70%}\r\nend\r\n")
        try await program.errors.text(upTo: "< end")
        program.send(signal: SIGTERM)
        let ending = try await program.ending()
        #expect(ending.status == 143)
        #expect(!ending.errors.contains("looks like a pump"), "\(ending)")
        await pump.close()
    }

    @Test("--csv appends to a file with a single heading")
    func csv() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("live.csv")
        for _ in 0..<2 {
            let ending = try await Pumpctl.run(
                "-p", Self.sensor, "storm", "log", "live", "--csv", "--count", "2", "-o", path)
            #expect(ending.status == 0)
            #expect(ending.output == "")
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "time,pipe,port,point,value")
        let rows = Self.rows(2).map { $0.split(separator: " ").joined(separator: ",") }
        for (line, row) in zip(lines.dropFirst(), rows + rows) {
            #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,(.*)/)?.1 == row[...])
        }
        #expect(lines.count == 5)
    }

    @Test("--json prints the fields of each row")
    func json() async throws {
        let ending = try await Pumpctl.run("-p", Self.sensor, "--json", "storm", "log", "live", "--count", "2")
        let records = try ending.objects()
        #expect(records.count == 2)
        for (record, row) in zip(records, Self.rows(2)) {
            let fields = row.split(separator: " ").map(String.init)
            #expect(record["row"] as? String == row)
            #expect([record["pipe"], record["port"], record["point"]] as? [String] == Array(fields[..<3]))
            #expect(record["value"] as? Double == Double(fields[3]))
            #expect(record["time"] is String)
        }
    }

    @Test("Rows are printed escaped; CSV leaves out a row that is no measurement, with a note")
    func oddRows() async throws {
        let speech = "LIVE LOG: cleaning\u{1B}[2J\r\nLIVE LOG: =1+1 \u{7}a,b 3 nan\r\n"
        for (options, output) in [
            ([], "cleaning\\x1b[2J\n=1+1 \\x07a,b 3 nan\n"), (["--csv"], "time,pipe,port,point,value\n"),
        ] as [([String], String)] {
            let sensor = try await ScriptedDevice()
            let program = try await Pumpctl.start(["-p", sensor.port, "storm", "log", "live", "-v"] + options)
            _ = try await program.errors.line("the open port")
            try await sensor.say(speech)
            _ = try await program.output.wait(for: "the rows") {
                $0.text.hasPrefix(output) && $0.text.contains("nan") ? true : nil
            }
            program.send(signal: SIGTERM)
            let ending = try await program.ending()
            #expect(ending.status == 143)
            if !options.isEmpty {
                #expect(ending.output.hasSuffix(",'=1+1,\"\\x07a,b\",3,nan\n"))
                #expect(ending.errors.contains("not a measurement: cleaning"))
            }
            await sensor.close()
        }
    }

    @Test("Rows that CSV leaves out do not count")
    func countOfCSV() async throws {
        let sensor = try await ScriptedDevice()
        let program = try await Pumpctl.start(
            ["-p", sensor.port, "storm", "log", "live", "-v", "--csv", "--count", "1"])
        _ = try await program.errors.line("the open port")
        try await sensor.say("LIVE LOG: cleaning\r\nLIVE LOG: 1 2 3 4\r\n")
        let ending = try await program.ending()
        #expect(ending.status == 0 && ending.output.hasSuffix(",1,2,3,4\n"), "\(ending)")
        await sensor.close()
    }

    @Test("A restart is reported, and a cut row is not joined with the next")
    func restart() async throws {
        let sensor = try await ScriptedDevice()
        let program = try await Pumpctl.start(["-p", sensor.port, "storm", "log", "live", "--count", "2", "-v"])
        _ = try await program.errors.line("the open port")
        try await sensor.say(
            "LIVE LOG: 1 2 3 4\r\nLIVE LOG: 1 2 3ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET)\r\n")
        try await sensor.say("entry 0x400805f0\r\nLIVE LOG: 5 6 7 8\r\n")
        let ending = try await program.ending()
        #expect(ending.output == "1 2 3 4\n5 6 7 8\n")
        #expect(ending.errors.contains("the board has restarted: POWERON_RESET"))
        await sensor.close()
    }

    @Test("log live ends with status 0 after the time of --for")
    func time() async throws {
        let ending = try await Pumpctl.run("-p", "sim:storm?interval=1000s", "storm", "log", "live", "--for", "0.1s")
        #expect(ending.status == 0)
        #expect(ending.output == "")
        #expect(ending.errors == "")
    }

    @Test("log live waits for an unplugged sensor to come back")
    func reconnects() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("storm")
        func start() async throws -> ChildProcess {
            let sim = try await Pumpctl.start(["sim", "storm", "--link", path, "--interval", "20ms"])
            _ = try await sim.output.line("the sensor's port")
            return sim
        }
        let first = try await start()
        let program = try await Pumpctl.start(["-p", path, "storm", "log", "live"])
        _ = try await program.output.line("a row")
        first.send(signal: SIGTERM)
        try await first.ending()
        #expect(try await program.errors.line().contains("waiting for the device to come back"))
        program.output.update { $0.bytes = [] }
        let second = try await start()
        #expect(try await program.errors.line().contains("is back"))
        _ = try await program.output.line("a row of the second")
        program.send(signal: SIGINT)
        #expect(try await program.ending().status == 130)
        second.send(signal: SIGTERM)
        try await second.ending()
    }

    @Test(
        "log live refuses invalid options",
        arguments: [["--count", "0"], ["--for", "0"], ["--csv", "--json"]])
    func wrongOptions(options: [String]) async throws {
        let ending = try await Pumpctl.start(["-p", "sim:storm", "storm", "log", "live"] + options).ending()
        expectFailure(ending, 64, saying: "pumpctl: ", hint: "pumpctl storm log live")
    }
}
