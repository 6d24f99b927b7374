import Foundation
import RecordFormat
import Terminal
import TestSupport
import Testing

@testable import Charts

@Suite("Charts")
struct ChartTests {
    private static let points = (0..<100).map { index in
        Chart.Point(time: 1_763_708_400 + Double(index) * 60, value: 20 + Double(index % 20))
    }

    private static let limit = Chart.Limit(40, meaning: "stops above")

    private static let chart = Chart([
        Chart.Series("speed", unit: "%", points: points),
        Chart.Series(
            "skin", unit: "°C", points: points.map { .init(time: $0.time, value: 34.5) }, limit: limit),
        Chart.Series("water", unit: "°C", points: [points[0], .init(time: points[50].time), points[99]]),
    ])

    /// A series with these values, evenly spread over one hour.
    private static func folded(
        _ name: String, family: String = "pump", endpoint: String = "/dev/ttyUSB0", device: String? = nil,
        part: String = "", _ values: [Double]
    ) -> FoldedSeries {
        let points = values.enumerated().map { index, value in
            let time = 1_763_708_400_000 + Int64(index) * 3_600_000 / Int64(values.count)
            return FoldedSeries.Point(time: RecordTime(milliseconds: time), value: value, isFirst: index == 0)
        }
        return FoldedSeries(
            family: family, endpoint: endpoint, device: device, part: part, name: name, points: points)
    }

    private static func lines(_ chart: Chart, columns: Int = 80, rows: Int? = nil) -> [String] {
        chart.lines(in: TerminalSize(columns: columns, rows: rows), isColoured: false)
    }

    @Test("Ticks are round numbers that enclose all values")
    func ticks() {
        #expect(Ticks(from: 12, to: 34.5).values == [10, 20, 30, 40])
        #expect(Ticks(from: 34.5, to: 34.5).values.count >= 2)
        #expect(
            Ticks(from: -0.3, to: 0.1).values.map(Ticks(from: -0.3, to: 0.1).label) == [
                "-0.3", "-0.2", "-0.1", "0.0", "0.1",
            ])
        #expect(Ticks(from: 0, to: 100).values.map(Ticks(from: 0, to: 100).label) == ["0", "50", "100"])
    }

    @Test("Temperatures are drawn above the speed, each panel with its unit")
    func panels() {
        #expect(Self.chart.panels.map(\.unit) == ["°C", "%"])
        #expect(Self.chart.panels[0].series.map(\.quantity) == ["skin", "water"])
        #expect(Chart.label(of: "skin_temp_c") == "skin")
        #expect(Chart.label(of: "speed_percent") == "speed")
        #expect(Chart.label(of: "temp_c") == "temp")
    }

    @Test("A value's label and unit come from its family, otherwise from its name")
    func naming() {
        let weights = [Self.folded("weight_g", family: "scale", [1, 2]), Self.folded("skin_temp_c", [30, 31])]
        let chart = Chart(weights) { family, name in
            family == "scale" && name == "weight_g" ? ("weight", "g") : nil
        }
        #expect(chart.panels.map(\.unit) == ["°C", "g"])
        #expect(chart.panels.map { $0.series.map(\.label) } == [["skin"], ["weight"]])
        #expect(Chart(weights).panels.map(\.unit) == ["°C", "weight g"])
    }

    @Test("Each device, port and point has its own line, mark and label")
    func separate() {
        let pumps = Chart(
            ["/dev/ttyUSB0", "/dev/ttyUSB1"].flatMap { endpoint in
                ["skin_temp_c", "speed_percent"].map { Self.folded($0, endpoint: endpoint, [1, 2]) }
            })
        #expect(
            pumps.panels.map { $0.series.map(\.label) } == [
                ["skin (/dev/ttyUSB0)", "skin (/dev/ttyUSB1)"], ["speed (/dev/ttyUSB0)", "speed (/dev/ttyUSB1)"],
            ])
        let sensors = Chart(
            (1...20).map { Self.folded("value", family: "storm", part: "pipe 1 port 1 point \($0)", [1, 2]) })
        #expect(sensors.panels.map(\.unit) == ["value"])
        for chart in [pumps, sensors] {
            let styles = chart.panels.flatMap(\.series).map(\.style)
            #expect(Set(styles).count == styles.count)
            let legend = Self.lines(chart, columns: 200).joined(separator: "\n")
            let labels = chart.panels.flatMap(\.series).map(\.label)
            let marks = labels.compactMap { label in
                legend.range(of: " \(label)").map { legend[legend.index(before: $0.lowerBound)] }
            }
            #expect(Set(marks).count == labels.count, "\(legend)")
        }
    }

    @Test("A legend with hundreds of entries is shortened, with a line that says so")
    func manyParts() {
        let chart = Chart((1...300).map { Self.folded("value", family: "storm", part: "point \($0)", [1, 2]) })
        let lines = Self.lines(chart, rows: 24)
        #expect(lines.count < 24)
        #expect(lines.contains { $0.contains("more are not listed") })
    }

    @Test("Boolean values are drawn between 0 and 1; a single device is not named in the label")
    func yesAndNo() {
        let chart = Chart([
            Self.folded("led", family: "led", endpoint: "sim:led", [1]), Self.folded("skin_temp_c", [30]),
        ])
        #expect(chart.panels.map { $0.series.map(\.label) } == [["skin"], ["led"]])
        #expect(chart.panels[1].ticks.values == [0, 0.5, 1])
    }

    @Test("Two devices at one endpoint are labelled with their names")
    func sameEndpoint() {
        let chart = Chart([
            Self.folded("skin_temp_c", device: "A", [1]), Self.folded("skin_temp_c", device: "B", [2]),
        ])
        #expect(chart.panels[0].series.map(\.label) == ["skin (A)", "skin (B)"])
    }

    @Test(
        "A chart fits the terminal's width and height", arguments: [30, 40, 80, 200], [20, 24, 60, nil])
    func sizes(_ columns: Int, _ rows: Int?) {
        let lines = Self.lines(Self.chart, columns: columns, rows: rows)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines.map(\.count))")
        // At least one row is left for the prompt of the shell.
        if let rows { #expect(rows - 3...rows - 1 ~= lines.count, "\(lines.count) of \(rows)") }
        #expect(lines.contains { $0.contains("* skin   o water") })
        #expect(lines.contains { $0.contains("+ speed") })
        #expect(lines.contains { $0.hasPrefix("    40 ┤") })
    }

    @Test("A band of states with a long name fits the terminal's width", arguments: [40, 80])
    func longBand(columns: Int) {
        let devices = [String(repeating: "x", count: 100), "b"]
        let chart = Chart(devices.map { Self.folded("state", device: $0, [0, 1]) })
        let lines = Self.lines(chart, columns: columns)
        #expect(lines.contains { $0.contains("xx") } && lines.allSatisfy { $0.count <= columns }, "\(lines)")
    }

    @Test("The band shows whether the pump was off, on or in an error state")
    func states() throws {
        let off = Self.folded("state", Array(repeating: 0, count: 50) + Array(repeating: 1, count: 25) + [2])
        let chart = Chart([off, Self.folded("skin_temp_c", [30, 31])])
        #expect(chart.panels.map(\.unit) == ["°C"])
        let band = try #require(Self.lines(chart).last { $0.contains("░░") })
        #expect(band.contains("░░█") && band.contains("█!"), "\(band)")
        let drawing = try SVGDrawing(chart.svg)
        #expect(drawing.bands.count == 3)
        for word in ["off", "on", "error"] { #expect(drawing.texts.contains(word)) }
    }

    @Test("The limit of the skin temperature is drawn even if no value is near it")
    func limit() throws {
        let chart = Chart([Self.folded("skin_temp_c", [20, 21])], limits: ["skin_temp_c": Self.limit])
        #expect(Self.lines(chart).contains { $0.hasPrefix("    40 ┤-----") })
        let drawing = try SVGDrawing(chart.svg)
        #expect(drawing.texts.contains("stops above 40 °C"))
        #expect(
            Chart([Self.folded("water_temp_c", [20, 21])], limits: ["skin_temp_c": Self.limit]).panels[0].limit == nil)
    }

    @Test("The SVG has axes, units, a legend, and a gap in the line for a missing value")
    func svg() throws {
        let drawing = try SVGDrawing(Self.chart.svg)
        for word in ["°C", "%", "skin", "water", "speed"] { #expect(drawing.texts.contains(word), "\(drawing.texts)") }
        #expect(drawing.lines.count == 4)
    }

    @Test("No two texts of an SVG overlap, and none is outside the image", arguments: [1, 2, 6, 30])
    func collisions(_ devices: Int) throws {
        let names = ["skin_temp_c", "water_temp_c", "speed_percent", "state"]
        for span in [1.0, 60, 4000, 90_000, 1e7, 1e9] {
            var series = (0..<devices).flatMap { device in
                names.map { Self.folded($0, endpoint: "usb:1a86:7523@1-2.\(device)", [0, 1]) }
            }
            for index in series.indices {
                series[index].points[1].time.milliseconds =
                    series[index].points[0].time.milliseconds + Int64(span * 1000)
            }
            let drawing = try SVGDrawing(Chart(series).svg)
            let boxes = drawing.boxes
            #expect(boxes.allSatisfy { drawing.size.contains($0) }, "\(span)")
            for (index, box) in boxes.enumerated() {
                for other in boxes[(index + 1)...] { #expect(!box.intersects(other), "\(span): \(box), \(other)") }
            }
        }
    }
}
