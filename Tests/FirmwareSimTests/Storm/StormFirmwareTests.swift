import FirmwareSim
import Testing

@Suite("The storm sensor")
struct StormFirmwareTests {
    private static func sensor(
        rows: Int = 3, interval: Duration? = nil, echoes: Bool = false, rate: LineRate = .unlimited
    ) -> StormFirmware {
        StormFirmware(
            options: StormFirmwareOptions(
                lineRate: rate, seed: 7, rows: rows, interval: interval, echoesCommand: echoes))
    }

    /// The rows of the log in a range.
    private static func log(_ rows: Range<Int>) -> String {
        String(decoding: StormLog(seed: 7).text(rows: rows), as: UTF8.self)
    }

    @Test("A log follows its prefix, whatever its length", arguments: [1, 255, 256, 257, 2000])
    func log(rows: Int) {
        var storm = Self.sensor(rows: rows)
        storm.receive(Array("GET_LOG\n".utf8), at: .zero)
        #expect(heard(storm.advance(to: .seconds(1))) == "LOG Values: " + Self.log(0..<rows))
        #expect(storm.isQuiescent)
    }

    @Test("An empty log is one line")
    func emptyLog() {
        var storm = Self.sensor(rows: 0)
        storm.receive(Array("GET_LOG\r\n".utf8), at: .zero)
        #expect(heard(storm.advance(to: .seconds(1))) == "LOG Values: \r\n")
    }

    @Test("The command is echoed on request, and other commands are ignored")
    func echo() {
        var storm = Self.sensor(rows: 1, echoes: true)
        storm.receive(Array("FROB\nGET_LO\nget_log\nGET_LOG2\nGET_LOG\n".utf8), at: .zero)
        #expect(heard(storm.advance(to: .seconds(1))) == "GET_LOG\r\nLOG Values: " + Self.log(0..<1))
    }

    @Test("The same seed gives the same rows, and another seed gives others")
    func seeds() {
        #expect(StormLog(seed: 7).text(rows: 5..<9) == StormLog(seed: 7).text(rows: 5..<9))
        #expect(StormLog(seed: 7).text(rows: 5..<9) != StormLog(seed: 8).text(rows: 5..<9))
        let rows = Self.log(0..<2000).split(separator: "\n")
        #expect(rows.count == 2000)
        for row in rows { #expect(row.wholeMatch(of: /[1-4] [1-8] [0-9]{1,2} -?[0-9]{1,3}\.[0-9]{2}/) != nil) }
        #expect(Set(rows).count > 1990)
    }

    @Test("Measurements are reported when made and appended to the log")
    func live() {
        var storm = Self.sensor(rows: 2, interval: .seconds(1))
        #expect(heard(storm.advance(to: .milliseconds(999))) == "")
        let rows = Self.log(2..<4).split(separator: "\n")
        #expect(heard(storm.advance(to: .seconds(2))) == rows.map { "LIVE LOG: \($0)\r\n" }.joined())
        storm.receive(Array("GET_LOG\n".utf8), at: .milliseconds(2100))
        #expect(heard(storm.advance(to: .milliseconds(2900))) == "LOG Values: " + Self.log(0..<4))
    }

    @Test("A measurement during a log comes between two rows and is not in the log")
    func liveWithinLog() {
        // At this rate the log takes 1.2 s.
        var storm = Self.sensor(rows: 1000, interval: .milliseconds(100), rate: .baud(115_200))
        storm.receive(Array("GET_LOG\n".utf8), at: .zero)
        var lines = heard(storm.advance(to: .seconds(2))).split(whereSeparator: \.isNewline)
        #expect(lines.first?.hasPrefix("LOG Values: ") == true)
        lines[0] = lines[0].dropFirst("LOG Values: ".count)
        let log = lines.filter { !$0.hasPrefix("LIVE LOG: ") }
        #expect(log.joined(separator: "\n") + "\n" == Self.log(0..<1000))
        #expect(lines.count - log.count >= 19)
        #expect(lines.last?.hasPrefix("LIVE LOG: ") == true)
    }

    @Test("A measurement due between the log's prefix and its first row comes after that row")
    func liveAtPrefix() {
        var storm = Self.sensor(rows: 3, interval: .milliseconds(100))
        storm.receive(Array("GET_LOG\n".utf8), at: .milliseconds(100) - .microseconds(1))
        let row = Self.log(3..<4).split(separator: "\n").joined()
        #expect(
            heard(storm.advance(to: .milliseconds(150)))
                == "LOG Values: " + Self.log(0..<3) + "LIVE LOG: \(row)\r\n")
    }

    @Test("A log takes the time of its bytes on the line")
    func pace() throws {
        var storm = Self.sensor(rows: 500, rate: .baud(115_200))
        storm.receive(Array("GET_LOG\n".utf8), at: .zero)
        let emissions = storm.advance(to: .seconds(60))
        let count = emissions.map(\.bytes.count).reduce(0, +)
        let end = try #require(emissions.last?.time)
        // The 8 bytes of the command take time too. A byte has ten bits.
        let least = Duration.seconds(10) * (count + 8) / 115_200
        #expect(end >= least - .milliseconds(1))
        #expect(end < least + .milliseconds(10))
        for emission in emissions { #expect(emission.bytes.count <= 64) }
        for (one, next) in zip(emissions, emissions.dropFirst()) { #expect(one.time < next.time) }
    }

    @Test("A reset drops the output, but not the log")
    func reset() {
        var storm = Self.sensor(rows: 1000, rate: .baud(115_200))
        storm.receive(Array("GET_LOG\n".utf8), at: .zero)
        _ = storm.advance(to: .milliseconds(100))
        storm.reset(at: .milliseconds(100))
        #expect(heard(storm.advance(to: .seconds(10))) == "")
        storm.receive(Array("GET_LOG\n".utf8), at: .seconds(10))
        #expect(heard(storm.advance(to: .seconds(20))) == "LOG Values: " + Self.log(0..<1000))
    }
}

/// The emitted bytes as text.
private func heard(_ emissions: [Emission]) -> String {
    String(decoding: emissions.flatMap(\.bytes), as: UTF8.self)
}
