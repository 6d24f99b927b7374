import FakeBlueZ
import FirmwareSim
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("pumpctl storm log over BLE", .timeLimit(.minutes(5)))
struct LogBLETests {
    /// A log of 40 rows.
    static let log = (1...40).map { "1 2 \($0) 517.10\n" }.joined()

    /// A storm sensor that a test controls, and that shares no code with the simulator.
    @Radio
    private final class Sensor {
        let radio = RadioDevice(
            "C0:FF:EE:00:00:01",
            Advertisement(name: "storm", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"]))
        /// The characteristic of live rows without a prefix.
        let live = RadioCharacteristic("1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", [.notify])
        /// The characteristic of commands, of the log, and of live rows with a prefix.
        let backup = RadioCharacteristic("BEB5483E-36E1-4688-B7F5-EA07361B26A8", [.write, .notify])
        /// The texts that were written with response.
        nonisolated let writes = Watched<[String]>([])
        /// The names of the characteristics that centrals have subscribed to, in order.
        nonisolated let subscriptions = Watched<[String]>([])

        /// Creates a sensor that replies to each write with the packets in `answer`, a notification each.
        init(mtu: Int = 517, answer: [String] = []) {
            radio.manners.mtu = mtu
            radio.services = [RadioService("4FAFC201-1FB5-459E-8FCC-C5C9C331914B", [live, backup])]
            backup.onWrite = { [writes, unowned self] bytes, request in
                if request.wantsAnswer { writes.update { $0.append(String(decoding: bytes, as: UTF8.self)) } }
                for packet in answer { backup.notify(Array(packet.utf8)) }
            }
            for (name, characteristic) in [("live", live), ("backup", backup)] {
                characteristic.onSubscription = { [subscriptions] _, isOn in
                    if isOn { subscriptions.update { $0.append(name) } }
                }
            }
        }

        func join(_ fake: FakeBlueZ) { fake.add(radio) }

        func say(_ text: String, of characteristic: RadioCharacteristic) { characteristic.notify(Array(text.utf8)) }
    }

    /// Calls `body` with a bench that has the sensor in reach.
    private func withSensor(
        _ sensor: Sensor, _ body: (BLEBench, Sensor) async throws -> Void
    ) async throws {
        try await withBLEBench { bench in
            await sensor.join(bench.fake)
            try await body(bench, sensor)
        }
    }

    /// Splits a text into pieces of at most `length` bytes.
    private static func pieces(_ text: String, _ length: Int) -> [String] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: length).map { start in
            String(decoding: bytes[start..<min(start + length, bytes.count)], as: UTF8.self)
        }
    }

    @Test(
        "A log in packets of any size, with live rows in between, is complete to the byte", arguments: [23, 517])
    func get(mtu: Int) async throws {
        var packets = ["GET_LOG"] + Self.pieces("LOG Values: " + Self.log, mtu - 3)
        packets.insert("LIVE LOG: 1 1 1 2.50", at: 2)
        packets.append("LIVE LOG: 1 1 1 2.75")
        try await withSensor(Sensor(mtu: mtu, answer: packets)) { bench, sensor in
            let printed = try await bench.run("-p", "ble:storm", "storm", "log", "get", "--quiet", "2s")
            #expect(printed.status == 0, "\(printed)")
            #expect(printed.output == Self.log)
            #expect(printed.errors == "")
            // Each command is written without a line end.
            #expect(sensor.writes.state == ["GET_LOG"])
            #expect(sensor.subscriptions.state == ["backup"])

            let folder = TemporaryFolder()
            let path = folder.write("of yesterday", to: "storm.log")
            let record = try await bench.run(
                "-p", "ble:*", "--json", "storm", "log", "get", "--quiet", "2s", "-o", path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.log)
            #expect(try record.object()["bytes"] as? Int == Self.log.utf8.count)
            #expect(try record.object()["live_rows"] as? Int == 2)
        }
    }

    @Test("A log with lost packet ends is reported as incomplete, and no rows are joined")
    func lostEnds() async throws {
        let answer = ["LOG Values: 1 2 3 50", "10 2 3 4.5\n2 2 3 500", "11 2 3 4.50\n"]
        try await withSensor(Sensor(mtu: 23, answer: answer)) { bench, _ in
            let ending = try await bench.run("-p", "ble:storm", "storm", "log", "get")
            expectFailure(ending, 74, saying: "data is missing at the ends of 2 packets", hint: "serial port")
            #expect(ending.output == "1 2 3 50\n10 2 3 4.5\n2 2 3 500\n11 2 3 4.50\n")
        }
    }

    @Test("Rows without a line end are separated, with a note")
    func noLineEnds() async throws {
        let answer = ["LOG Values: ", "1 2 3 500.00", "1 1 1 500.37", "2 2 2 -1.50"]
        try await withSensor(Sensor(answer: answer)) { bench, _ in
            let ending = try await bench.run("-p", "ble:storm", "storm", "log", "get")
            #expect(ending.status == 0)
            #expect(ending.output == "1 2 3 500.00\n1 1 1 500.37\n2 2 2 -1.50")
            #expect(ending.errors.contains("2 rows arrived without a line end"))
        }
    }

    @Test("A log cut off by a lost link exits with 74, keeps the partial log and the old file")
    func cutOff() async throws {
        try await withSensor(Sensor(answer: ["LOG Values: 1 2 3 4.50\n", "4 5\n"])) { bench, sensor in
            let folder = TemporaryFolder()
            let path = folder.write("of yesterday", to: "storm.log")
            let program = try await bench.start(["-p", "ble:storm", "-v", "--json", "storm", "log", "get", "-o", path])
            try await program.errors.text(upTo: "< 4 5")
            await sensor.radio.dropLinks()
            let ending = try await program.ending()
            expectFailure(ending, 74, saying: "incomplete", hint: "15 bytes of it are in \(path).partial")
            #expect(try ending.object()["outcome"] as? String == "incomplete")
            #expect(try String(contentsOfFile: path + ".partial", encoding: .utf8) == "1 2 3 4.50\n4 5\n")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "of yesterday")
        }
    }

    @Test("A sensor that is out of reach leaves its log incomplete")
    func outOfReach() async throws {
        try await withSensor(Sensor(answer: ["LOG Values: 1 2 3 4.50\n"])) { bench, sensor in
            // The read by which pumpctl asks whether the sensor is still there gets no reply.
            await Radio.run { sensor.radio.manners.readDelay = .seconds(3600) }
            let program = try await bench.start(["-p", "ble:storm", "-v", "storm", "log", "get", "--quiet", "0.1"])
            try await program.errors.text(upTo: "* checking the connection")
            await sensor.radio.dropLinks()
            expectFailure(try await program.ending(), 74, saying: "incomplete", hint: "11 bytes of it were printed")
        }
    }

    @Test("An empty log succeeds, and a silent sensor exits with 75")
    func emptyAndSilent() async throws {
        try await withSensor(Sensor(answer: ["LOG Values: "])) { bench, _ in
            let ending = try await bench.run("-p", "ble:storm", "storm", "log", "get")
            #expect(ending.status == 0 && ending.output == "", "\(ending)")
        }
        try await withSensor(Sensor()) { bench, _ in
            let ending = try await bench.run("-p", "ble:C0:FF:EE:00:00:01", "--timeout", "2", "storm", "log", "get")
            expectFailure(ending, 75, saying: "no answer to GET_LOG in 2 s")
        }
    }

    @Test("Live rows are printed, also after the sensor was away", arguments: [false, true])
    func live(isRaw: Bool) async throws {
        try await withSensor(Sensor()) { bench, sensor in
            let characteristic = isRaw ? sensor.live : sensor.backup
            let prefix = isRaw ? "" : "LIVE LOG: "
            let name = isRaw ? "live" : "backup"
            let program = try await bench.start(
                ["-p", "ble:storm", "storm", "log", "live", "--count", "3"] + (isRaw ? ["--raw"] : []))
            _ = try await sensor.subscriptions.wait(for: "the central") { $0 == [name] ? true : nil }
            // Two rows that are sent at once stay separate.
            for row in ["1 2 3 4.50", "1 2 4 -5.00"] { await sensor.say(prefix + row, of: characteristic) }
            #expect(try await program.output.line() == "1 2 3 4.50")
            #expect(try await program.output.line() == "1 2 4 -5.00")
            await sensor.radio.dropLinks()
            #expect(try await program.errors.line().contains("waiting for the device to come back"))
            _ = try await sensor.subscriptions.wait(for: "the central again") { $0 == [name, name] ? true : nil }
            #expect(try await program.errors.line().contains("is back"))
            // Rows of the other characteristic, and a line of the log, are not printed.
            await sensor.say("9 9 9 9.99", of: isRaw ? sensor.backup : sensor.live)
            if !isRaw { await sensor.say("LOG Values: 8 8 8 8.88\n", of: characteristic) }
            await sensor.say(prefix + "1 2 5 6.00", of: characteristic)
            #expect(try await program.output.line() == "1 2 5 6.00")
            #expect(try await program.ending().status == 0)
        }
    }

    @Test("--raw is refused without a BLE sensor")
    func rawElsewhere() async throws {
        expectFailure(
            try await Pumpctl.run("-p", "sim:storm", "storm", "log", "live", "--raw"), 64, saying: "sim:storm",
            hint: "omit --raw, which needs a BLE sensor")
    }

    @Test("send over BLE adds no line end")
    func send() async throws {
        try await withSensor(Sensor(answer: ["LOG Values: 1 2 3 4.50\n"])) { bench, sensor in
            let ending = try await bench.run("-p", "ble:storm", "--family", "storm", "send", "GET_LOG")
            #expect(ending.output == "LOG Values: 1 2 3 4.50\n", "\(ending)")
            #expect(sensor.writes.state == ["GET_LOG"])
        }
    }
}

extension BLEBench {
    fileprivate func start(_ arguments: [String]) async throws -> ChildProcess {
        try await Pumpctl.start(arguments, environment: environment)
    }
}
