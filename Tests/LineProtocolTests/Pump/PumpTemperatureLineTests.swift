import LineProtocol
import Testing

@Suite("Temperature lines")
struct PumpTemperatureLineTests {
    @Test(
        "A single thermistor's number is decoded",
        arguments: [
            ("TEMP:34.5", 34.5), ("TEMP: 9.5", 9.5), ("TEMP:-80.0", -80), ("TEMP:-0.5", -0.5), ("TEMP:0.0", 0),
            ("TEMP:34.5C", 34.5),
            ("TEMP:nan", .nan), ("TEMP: nan", .nan), ("TEMP:NAN", .nan), ("TEMP: inf", .infinity),
            ("TEMP:-inf", -.infinity),
        ] as [(String, Double)])
    func readsOne(line: String, celsius: Double) {
        #expect(PumpMessage(text: line) == .temperatures(PumpTemperatures(single: ThermistorReading(celsius: celsius))))
    }

    @Test(
        "Water and skin are decoded in any order",
        arguments: [
            ("TEMP:{Water:12.0C,Skin:34.5C}", 12, 34.5), ("TEMP:{Skin:34.5C,Water:12.0C}", 12, 34.5),
            ("TEMP:{Water: 9.5C,Skin:-80.0C}", 9.5, -80), ("TEMP:{Water: nanC,Skin:-infC}", .nan, -.infinity),
            ("TEMP:{Water:12.0C}", 12, nil), ("TEMP:{Skin:34.5C}", nil, 34.5),
        ] as [(String, Double?, Double?)])
    func readsBoth(line: String, water: Double?, skin: Double?) {
        #expect(PumpMessage(text: line) == .temperatures(PumpTemperatures(water: water, skin: skin, single: nil)))
    }

    @Test(
        "Unknown and unreadable fields are kept in order",
        arguments: [
            ("TEMP:{Ambient:20.5C,Water:12.0C,Skin:34.5C,Unit}", 12, 34.5, [("Ambient", "20.5C"), ("Unit", "")]),
            ("TEMP:{Water:12.0C,Skin:?C}", 12, nil, [("Skin", "?C")]),
            ("TEMP:{Water:?C,Skin:?C}", nil, nil, [("Water", "?C"), ("Skin", "?C")]),
        ] as [(String, Double?, Double?, [(String, String)])])
    func keepsOtherFields(line: String, water: Double?, skin: Double?, other: [(String, String)]) {
        guard case .temperatures(let temperatures) = PumpMessage(text: line) else {
            Issue.record("no temperatures")
            return
        }
        #expect(temperatures.water?.celsius == water)
        #expect(temperatures.skin?.celsius == skin)
        #expect(temperatures.otherFields == other.map { PumpStatusField(name: $0.0, value: $0.1) })
    }

    @Test(
        "isReported is true if at least one thermistor has a reading",
        arguments: [
            ("TEMP:{Water:?C,Skin:?C}", false), ("TEMP:{Water:?C,Skin:34.5C}", true), ("TEMP:34.5", true),
            ("TEMP:{Water: nanC,Skin:?C}", true),
        ])
    func tellsWhetherThereIsAny(line: String, isReported: Bool) {
        guard case .temperatures(let temperatures) = PumpMessage(text: line) else {
            Issue.record("no temperatures")
            return
        }
        #expect(temperatures.isReported == isReported)
    }

    @Test(
        "A truncated temperature line is not a temperature",
        arguments: PumpLines.all.filter { $0.hasPrefix("TEMP:") })
    func isNoTemperatureCutShort(line: String) {
        let bytes = Array(line.utf8)
        for length in 0..<bytes.count {
            let piece = Array(bytes[..<length])
            #expect(PumpMessage(line: piece.span) == .unknown(piece))
        }
    }

    @Test(
        "Readings from -40 to 125 °C are plausible, others are not",
        arguments: [
            (-40, true), (0, true), (34.5, true), (125, true), (-40.1, false), (-80, false), (125.1, false),
            (.nan, false),
            (.infinity, false), (-.infinity, false),
        ] as [(Double, Bool)])
    func tellsBrokenThermistor(celsius: Double, isPlausible: Bool) {
        #expect(ThermistorReading(celsius: celsius).isPlausible == isPlausible)
    }

    @Test("A NaN reading equals itself")
    func equalsItself() {
        let broken = ThermistorReading(celsius: .nan)
        #expect(broken == ThermistorReading(celsius: -.nan))
        #expect(Set([broken, ThermistorReading(celsius: .nan)]).count == 1)
        #expect(broken != ThermistorReading(celsius: 0))
    }
}
