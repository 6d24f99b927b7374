import LineProtocol
import Testing

/// A status line and its parsed value.
struct StatusLine: Sendable, CustomTestStringConvertible {
    var text: String
    var status = PumpStatus()

    init(
        _ text: String, _ power: PumpStatus.Power, speed: UInt8? = nil, runtime: UInt16? = nil,
        remaining: UInt16? = nil,
        water: Double? = nil, skin: Double? = nil, single: Double? = nil, other: [(String, String)] = []
    ) {
        self.text = text
        status.power = power
        status.speedPercent = speed
        status.runtimeMinutes = runtime
        status.remainingMinutes = remaining
        status.temperatures = PumpTemperatures(water: water, skin: skin, single: single)
        status.otherFields = other.map { PumpStatusField(name: $0.0, value: $0.1) }
    }

    var testDescription: String { text }
}

extension PumpTemperatures {
    init(water: Double?, skin: Double?, single: Double?) {
        self.init(
            water: water.map(ThermistorReading.init), skin: skin.map(ThermistorReading.init),
            single: single.map(ThermistorReading.init))
    }
}

@Suite("Status lines")
struct PumpStatusLineTests {
    static let field = [
        StatusLine(
            "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,WaterTemp:12.0C,SkinTemp:34.5C}", .on, speed: 70,
            runtime: 5, remaining: 25, water: 12, skin: 34.5),
        StatusLine("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}", .off, water: 12, skin: 34.5),
        StatusLine("STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:41.0C}", .error, water: 12, skin: 41),
        StatusLine(
            "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,Temp:34.5C}", .on, speed: 70, runtime: 5,
            remaining: 25, single: 34.5),
        StatusLine(
            "STATUS:{State:OFF,Speed:0%,Runtime:0m,Remaining:30m,WaterTemp:12.5C,SkinTemp:35.2C}", .off, speed: 0,
            runtime: 0, remaining: 30, water: 12.5, skin: 35.2),
        StatusLine(
            "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m}", .on, speed: 70, runtime: 5, remaining: 25),
        StatusLine("STATUS:{State:OFF}", .off),
    ]

    @Test("Status lines in each form of the protocol are decoded", arguments: field)
    func isRead(line: StatusLine) { check(line) }

    @Test(
        "Any thermistor value is decoded",
        arguments: [
            StatusLine("STATUS:{State:OFF,WaterTemp: 9.5C,SkinTemp: 0.0C}", .off, water: 9.5, skin: 0),
            StatusLine("STATUS:{State:OFF,WaterTemp:-4.5C,SkinTemp:-80.0C}", .off, water: -4.5, skin: -80),
            StatusLine("STATUS:{State:OFF,WaterTemp:-0.1C,SkinTemp:125.0C}", .off, water: -0.1, skin: 125),
            StatusLine("STATUS:{State:OFF,WaterTemp:nanC,SkinTemp: nanC}", .off, water: .nan, skin: .nan),
            StatusLine("STATUS:{State:OFF,WaterTemp:NANC,SkinTemp:-nanC}", .off, water: .nan, skin: .nan),
            StatusLine("STATUS:{State:OFF,WaterTemp: infC,SkinTemp:-infC}", .off, water: .infinity, skin: -.infinity),
            StatusLine("STATUS:{State:OFF,WaterTemp:INFC,SkinTemp:-INFC}", .off, water: .infinity, skin: -.infinity),
            StatusLine("STATUS:{State:OFF,Temp: nanC}", .off, single: .nan),
            StatusLine("STATUS:{State:OFF,WaterTemp:12.0,SkinTemp:34.5}", .off, water: 12, skin: 34.5),
        ])
    func readsThermistors(line: StatusLine) { check(line) }

    @Test(
        "An unreadable value is kept as text",
        arguments: [
            "WaterTemp:?C", "SkinTemp:?C", "Temp:?C", "WaterTemp:", "WaterTemp:C", "SkinTemp:12.0F", "SkinTemp:--1.0C",
            "SkinTemp:- 1.0C", "SkinTemp:+1.0C", "SkinTemp:1.2.3C", "SkinTemp:.5C", "SkinTemp:34.C", "SkinTemp:1e1C",
            "SkinTemp:0x10C", "SkinTemp:infinityC", "SkinTemp:34.5CC", "SkinTemp:34.5 C",
            "SkinTemp:1234567890123456.0C",
            // 34.5C whose point was lost on the way.
            "SkinTemp:345C",
            "Speed:101%", "Speed:256%", "Speed:-1%", "Speed:70", "Speed:%", "Speed: %", "Speed:7 0%", "Speed:70.0%",
            "Speed:?%",
            "Speed:99999999999999999999%", "Runtime:65536m", "Runtime:-1m", "Runtime:5", "Runtime:5s", "Runtime:m",
            "Runtime:",
            "Remaining:?m", "Remaining:25 m", "State:on", "State:", "State:ON ", "State:IDLE",
        ])
    func keepsUnreadable(field: String) {
        let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        check(StatusLine("STATUS:{\(field)}", .unknown, other: [(parts[0], parts[1])]))
    }

    @Test(
        "Unknown fields are kept in order",
        arguments: [
            StatusLine(
                "STATUS:{Battery:88%,State:ON,Flow:1.2l,Speed:70%,Mode:A}", .on, speed: 70,
                other: [("Battery", "88%"), ("Flow", "1.2l"), ("Mode", "A")]),
            StatusLine(
                "STATUS:{Mode:A,Mode:B,Mode:A}", .unknown, other: [("Mode", "A"), ("Mode", "B"), ("Mode", "A")]),
            StatusLine("STATUS:{Clock:12:34:56,State:OFF}", .off, other: [("Clock", "12:34:56")]),
            StatusLine("STATUS:{Flag,State:OFF,:1,Empty:}", .off, other: [("Flag", ""), ("", "1"), ("Empty", "")]),
            StatusLine("STATUS:{,State:OFF,,Mode:A}", .off, other: [("", ""), ("", ""), ("Mode", "A")]),
            StatusLine(
                "STATUS:{state:ON, State:OFF,Water:1.0C}", .unknown,
                other: [("state", "ON"), (" State", "OFF"), ("Water", "1.0C")]),
            StatusLine("STATUS:{State:OFF,Ünï:✓}", .off, other: [("Ünï", "✓")]),
            StatusLine("STATUS:{}", .unknown),
        ])
    func keepsUnknownFields(line: StatusLine) { check(line) }

    @Test("The order of the fields does not matter")
    func ignoresOrder() {
        let fields = ["State:ON", "Speed:70%", "Runtime:5m", "WaterTemp:12.0C", "SkinTemp:34.5C"]
        let ordered = PumpMessage(text: "STATUS:{\(fields.joined(separator: ","))}")
        for order in permutations(of: fields) {
            #expect(PumpMessage(text: "STATUS:{\(order.joined(separator: ","))}") == ordered)
        }
    }

    @Test(
        "A truncated status line is not a status",
        arguments: PumpLines.all.filter { $0.hasPrefix("STATUS:") })
    func isNoStatusCutShort(line: String) {
        let bytes = Array(line.utf8)
        for length in 0..<bytes.count {
            let piece = Array(bytes[..<length])
            #expect(PumpMessage(line: piece.span) == .unknown(piece))
        }
        for start in 1..<bytes.count {
            let piece = Array(bytes[start...])
            #expect(PumpMessage(line: piece.span) == .unknown(piece))
        }
    }

    @Test("A status with a hundred fields is decoded")
    func readsManyFields() throws {
        let names = (0..<100).map { "F\($0)" }
        let text = "STATUS:{\(names.map { "\($0):1" }.joined(separator: ",")),State:ON}"
        guard case .status(let status) = PumpMessage(text: text) else {
            Issue.record("no status")
            return
        }
        #expect(status.otherFields.map(\.name) == names)
        #expect(status.power == .on)
    }

    private func check(_ line: StatusLine) {
        #expect(PumpMessage(text: line.text) == .status(line.status))
    }

    private func permutations(of items: [String]) -> [[String]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(of: rest).map { [item] + $0 }
        }
    }

    @Test(
        "Two merged lines are not a status",
        arguments: [
            "STATUS:{State:ON,Speed:7STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}",
            // The end of the first line and the beginning of the second were lost.
            "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,SkinTemp:34.p:12.0C,SkinTemp:34.5C}",
            "STATUS:{State:ON,State:OFF}", "STATUS:{State:IDLE,State:OFF}", "STATUS:{State:ON,Speed:1%,Speed:1%}",
            "STATUS:{Runtime:1m,Runtime:2m}", "STATUS:{Remaining:1m,Remaining:2m}", "STATUS:{Temp:3.0C,Temp:4.0C}",
            "STATUS:{WaterTemp: nanC,WaterTemp:1.0C}", "TEMP:{Water:12.0C,Water:12.0C}",
            "TEMP:{Water:12.0C,Skin:3,Skin:34.5C}", "TEMP:{WaTEMP:{Water:12.0C,Skin:34.5C}",
        ])
    func tornLinesAreNoStatus(line: String) {
        #expect(PumpMessage(text: line) == .unknown(Array(line.utf8)))
    }
}
