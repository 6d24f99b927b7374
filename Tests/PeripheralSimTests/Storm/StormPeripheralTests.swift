import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("The storm sensor over BLE")
struct StormPeripheralTests {
    private static let backup: BluetoothUUID = "BEB5483E-36E1-4688-B7F5-EA07361B26A8"
    private static let live: BluetoothUUID = "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E"

    /// A sensor with a connected central. By default it measures nothing, and sends a log without pauses.
    private static func sensor(
        rows: Int = 3, interval: Duration? = nil, echoes: Bool = false, pause: Duration = .zero
    ) -> StormPeripheral {
        var storm = StormPeripheral(
            options: StormFirmwareOptions(seed: 7, rows: rows, interval: interval, echoesCommand: echoes), pause: pause)
        storm.take(.connected, at: .zero)
        return storm
    }

    /// The text of some rows of the log.
    private static func log(_ rows: Range<Int>) -> String {
        String(decoding: StormLog(seed: 7).text(rows: rows), as: UTF8.self)
    }

    /// The notifications of a characteristic, as text.
    private func texts(_ emissions: [Emission], of characteristic: BluetoothUUID = backup) -> [String] {
        emissions.filter { $0.characteristic == characteristic }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// A central's write of a command.
    private static func getLog(_ text: String = "GET_LOG", mtu: Int = 517) -> CentralEvent {
        .wrote(Array(text.utf8), to: backup, mtu: mtu)
    }

    @Test("A sensor's measure verb, interval and echo work")
    func control() async throws {
        let storm = await ControlledDevice(Self.sensor())
        #expect(await storm.host.handle.observe() == ["rows": .integer(3), "centrals": .integer(1)])
        func rows(_ words: [Emission]) -> String { texts(words, of: Self.live).map { $0 + "\n" }.joined() }
        #expect(try await rows(storm.perform("measure")) == Self.log(3..<4))
        _ = try await storm.perform("set", "interval", "1s")
        #expect(try await rows(storm.perform("advance", "3500ms")) == Self.log(4..<7))
        _ = try await storm.perform("set", "interval", "off")
        _ = try await storm.perform("set", "echo", "on")
        #expect(await texts(storm.take(Self.getLog())).first == "GET_LOG")
    }

    @Test("The sensor offers two characteristics in one service")
    func description() {
        let offered = StormPeripheral(name: "Pipe 7").offered
        #expect(offered.name == "Pipe 7")
        #expect(offered.services.map(\.uuid) == ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        let flags = offered.services[0].characteristics.map { ($0.uuid, $0.flags) }
        #expect(flags.count == 2)
        #expect(flags.contains { $0 == Self.live && $1 == [.notify] })
        #expect(flags.contains { $0 == Self.backup && $1 == [.write, .notify] })
        #expect(offered.budget.fits)
    }

    @Test(
        "A log follows its prefix in full packets",
        // The sensor reads its log in blocks of 256 rows. The MTUs are the smallest one, two in between, and the
        // largest.
        arguments: [0, 1, 255, 256, 257, 2000], [23, 185, 512, 517])
    func log(rows: Int, mtu: Int) {
        var storm = Self.sensor(rows: rows)
        storm.take(Self.getLog(mtu: mtu), at: .zero)
        let packets = texts(storm.advance(to: .seconds(1)))
        #expect(packets.joined() == "LOG Values: " + Self.log(0..<rows))
        // A value holds at most 512 bytes, even if a packet holds more.
        let length = min(mtu - 3, 512)
        #expect(packets.dropLast().allSatisfy { $0.utf8.count == length })
        #expect((1...length).contains(packets.last?.utf8.count ?? 0))
        #expect(storm.isQuiescent)
    }

    @Test("A log of 10 MB is produced block by block")
    func streaming() throws {
        var storm = Self.sensor(rows: 760_000)
        storm.take(Self.getLog(), at: .zero)
        var count = 0
        while let next = storm.nextActivity {
            let emissions = storm.advance(to: next)
            let length = emissions.map(\.bytes.count).reduce(0, +)
            // A block has 256 rows. A row has about 13 bytes.
            try #require(length <= 256 * 20)
            count += length
        }
        #expect(count == "LOG Values: ".utf8.count + StormLog(seed: 7).text(rows: 0..<760_000).count)
    }

    @Test("By default a piece of the log is sent every 10 ms")
    func pace() throws {
        var storm = Self.sensor(rows: 1000, pause: StormPeripheral.defaultPause)
        storm.take(Self.getLog(mtu: 185), at: .zero)
        let emissions = storm.advance(to: .seconds(60))
        #expect(texts(emissions).joined() == "LOG Values: " + Self.log(0..<1000))
        for (one, next) in zip(emissions, emissions.dropFirst()) { #expect(next.time - one.time == .milliseconds(10)) }
    }

    @Test("The sensor sends the same at any step", arguments: [1, 7, 400])
    func steps(milliseconds: Int) {
        func sensor() -> StormPeripheral {
            var storm = Self.sensor(rows: 500, interval: .milliseconds(90), pause: StormPeripheral.defaultPause)
            storm.take(Self.getLog(mtu: 100), at: .zero)
            return storm
        }
        var (whole, stepped) = (sensor(), sensor())
        let all = whole.advance(to: .seconds(2))
        var emissions: [Emission] = []
        for step in stride(from: 0, through: 2000, by: milliseconds) {
            emissions += stepped.advance(to: .milliseconds(step))
        }
        #expect(emissions == all)
    }

    @Test("The command is echoed on request, and other commands are ignored")
    func commands() {
        var storm = Self.sensor(rows: 1, echoes: true)
        for text in ["FROB", "GET_LO", "get_log", "GET_LOG2", "GET_LOG\n", ""] {
            storm.take(Self.getLog(text), at: .zero)
        }
        storm.take(.wrote(Array("GET_LOG".utf8), to: Self.live, mtu: 517), at: .zero)
        #expect(storm.advance(to: .seconds(1)).isEmpty)
        storm.take(Self.getLog(), at: .seconds(1))
        #expect(texts(storm.advance(to: .seconds(2))) == ["GET_LOG", "LOG Values: " + Self.log(0..<1)])
    }

    @Test("Measurements are notified raw and with their prefix, and appended to the log")
    func live() {
        var storm = Self.sensor(rows: 2, interval: .seconds(1))
        let emissions = storm.advance(to: .seconds(2))
        let rows = Self.log(2..<4).split(separator: "\n").map { String($0) }
        #expect(texts(emissions, of: Self.live) == rows)
        #expect(texts(emissions) == rows.map { "LIVE LOG: \($0)" })
        storm.take(Self.getLog(), at: .milliseconds(2100))
        #expect(texts(storm.advance(to: .milliseconds(2900))) == ["LOG Values: " + Self.log(0..<4)])
    }

    @Test("A measurement during a log is a packet of its own and is not in the log")
    func liveWithinLog() {
        var storm = Self.sensor(rows: 1000, interval: .milliseconds(100), pause: StormPeripheral.defaultPause)
        storm.take(Self.getLog(mtu: 100), at: .zero)
        let packets = texts(storm.advance(to: .seconds(2)))
        let log = packets.filter { !$0.hasPrefix("LIVE LOG: ") }
        #expect(log.joined() == "LOG Values: " + Self.log(0..<1000))
        #expect(packets.count - log.count == 20)
    }

    @Test("A prefixed row that does not fit the packet is sent only raw")
    func smallPackets() {
        var storm = Self.sensor(rows: 0, interval: .seconds(1))
        storm.take(Self.getLog(mtu: 25), at: .zero)
        let emissions = storm.advance(to: .seconds(200))
        let rows = Self.log(0..<200).split(separator: "\n").map { "LIVE LOG: \($0)" }
        // A notification has room for the MTU minus 3 bytes.
        let fitting = rows.filter { $0.utf8.count <= 22 }
        #expect(!fitting.isEmpty && fitting.count < rows.count)
        #expect(texts(emissions) == ["LOG Values: "] + fitting)
        #expect(texts(emissions, of: Self.live).count == 200)
    }

    @Test("A repeated command starts the log again")
    func again() {
        var storm = Self.sensor(rows: 1000, pause: StormPeripheral.defaultPause)
        storm.take(Self.getLog(mtu: 100), at: .zero)
        let beginning = texts(storm.advance(to: .milliseconds(105)))
        storm.take(Self.getLog(mtu: 517), at: .milliseconds(105))
        #expect(beginning.count == 11 && beginning.allSatisfy { $0.utf8.count == 97 })
        #expect(texts(storm.advance(to: .seconds(10))).joined() == "LOG Values: " + Self.log(0..<1000))
    }

    @Test("Without a central the log stops, and the next central gets it from the start")
    func nobody() {
        var storm = Self.sensor(rows: 1000, interval: .seconds(1), pause: StormPeripheral.defaultPause)
        // A second central: the log goes on until both have left.
        storm.take(.connected, at: .zero)
        storm.take(Self.getLog(), at: .zero)
        storm.take(.disconnected, at: .milliseconds(15))
        #expect(texts(storm.advance(to: .milliseconds(25))).count == 3)
        storm.take(.disconnected, at: .milliseconds(25))
        #expect(storm.advance(to: .milliseconds(5500)).isEmpty)
        #expect(storm.rowCount == 1005)
        storm.take(.connected, at: .milliseconds(5500))
        storm.take(Self.getLog(), at: .milliseconds(5500))
        let packets = texts(storm.advance(to: .seconds(20))).filter { !$0.hasPrefix("LIVE LOG: ") }
        #expect(packets.joined() == "LOG Values: " + Self.log(0..<1005))
    }

    @Test("A reset drops the log in progress, but not the stored log")
    func reset() {
        var storm = Self.sensor(rows: 1000, pause: StormPeripheral.defaultPause)
        storm.take(Self.getLog(), at: .zero)
        _ = storm.advance(to: .milliseconds(50))
        storm.reset(at: .milliseconds(50))
        #expect(storm.advance(to: .seconds(10)).isEmpty)
        storm.take(Self.getLog(), at: .seconds(10))
        #expect(texts(storm.advance(to: .seconds(20))).joined() == "LOG Values: " + Self.log(0..<1000))
    }
}
