import Foundation
import FoundationXML
import RecordFormat
import TestSupport
import Testing

@testable import pumpctl

@Suite("history")
struct HistoryTests {
    private static let points = (0..<100).map { index in
        HistoryChart.Point(time: 1_763_708_400 + Double(index) * 60, value: 20 + Double(index % 20))
    }

    private static let chart = HistoryChart([
        HistoryChart.Series(name: "speed_percent", points: points),
        HistoryChart.Series(name: "skin_temp_c", points: points.map { .init(time: $0.time, value: 34.5) }),
        HistoryChart.Series(name: "water_temp_c", points: [points[0], .init(time: points[50].time), points[99]]),
    ])

    @Test(
        "A time is so long ago, or a date",
        arguments: [
            ("2h", 1_763_704_800), ("7d", 1_763_107_200), ("90s", 1_763_711_910),
            ("1970-01-02Z", 86400), ("2025-11-21T08:00Z", 1_763_712_000), ("2025-11-21 08:00:05Z", 1_763_712_005),
        ])
    func times(_ text: String, _ seconds: Int64) {
        let now = RecordTime(milliseconds: 1_763_712_000_000)
        #expect(TimeArgument(text, now: now)?.time.milliseconds == seconds * 1000)
    }

    @Test(
        "What is no time is none", arguments: ["", "2", "soon", "2025-02-30", "2025-13-01", "2025-11-21T25:00", "-1h"])
    func noTimes(_ text: String) { #expect(TimeArgument(text, now: .now) == nil) }

    @Test("Ticks are round, and hold all values between them")
    func ticks() {
        #expect(Ticks(from: 12, to: 34.5).values == [10, 20, 30, 40])
        #expect(Ticks(from: 34.5, to: 34.5).values.count >= 2)
        #expect(
            Ticks(from: -0.3, to: 0.1).values.map(Ticks(from: -0.3, to: 0.1).label) == [
                "-0.3", "-0.2", "-0.1", "0.0", "0.1",
            ])
        #expect(Ticks(from: 0, to: 100).values.map(Ticks(from: 0, to: 100).label) == ["0", "50", "100"])
    }

    @Test("Temperatures stand above speed, each with its unit")
    func panels() {
        #expect(Self.chart.panels.map(\.unit) == ["°C", "%"])
        #expect(Self.chart.panels[0].series.map(\.name) == ["skin_temp_c", "water_temp_c"])
        #expect(HistoryChart.label(of: "skin_temp_c") == "skin")
        #expect(HistoryChart.label(of: "speed_percent") == "speed")
        #expect(HistoryChart.label(of: "temp_c") == "temp")
    }

    @Test("A chart in the terminal is no wider than that", arguments: [30, 40, 80, 200])
    func widths(_ columns: Int) {
        let lines = TerminalChart(Self.chart, Output(isJSON: false), columns: columns).lines
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines.map(\.count))")
        #expect(lines.contains { $0.contains("* skin   o water") })
        #expect(lines.contains { $0.hasPrefix("    40 ┤") })
    }

    @Test("The SVG is well-formed, with axes, units, a legend, and a line that breaks where a value is missing")
    func svg() throws {
        let text = SVGChart(Self.chart).text
        let reader = ElementReader()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        #expect(parser.parse())
        for word in ["°C", "%", "skin", "water", "speed"] { #expect(reader.texts.contains(word), "\(reader.texts)") }
        #expect(reader.count["polyline"] == 4)
    }

    @Test("Nothing was recorded: that is said, with what records")
    func nothing() async throws {
        let folder = TemporaryFolder()
        let ending = try await Pumpctl.run("history", environment: ["XDG_DATA_HOME": folder.path])
        expectFailure(ending, 66, saying: "nothing has been recorded", hint: "pumpctl monitor")
    }

    @Test(
        "Arguments that make no sense are refused",
        arguments: [
            ["--since", "soon"], ["--csv", "--json"], ["--plot", "--csv"], ["--events", "--sessions"],
            ["--where", "--csv"],
        ])
    func arguments(_ arguments: [String]) async throws {
        let ending = try await Pumpctl.start(["history"] + arguments).ending()
        expectFailure(ending, 64, saying: "Error: ", hint: "pumpctl history")
    }
}

private final class ElementReader: NSObject, XMLParserDelegate {
    var count: [String: Int] = [:]
    var texts: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        count[name, default: 0] += 1
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { texts.append(string) }
}
