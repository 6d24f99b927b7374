import Charts
import DeviceKit
import RecordFormat

/// The contents of a plot of recorded values.
enum HistoryPlot {
    /// The limits to draw: the skin temperature in °C above which a pump stops (pump-35 in docs/protocols.md).
    static let limits = ["skin_temp_c": Chart.Limit(40, meaning: "stops above")]

    /// Returns the label and unit of a value of a family; nil if there is no such family, or no such value in it.
    static func naming(_ family: String, _ name: String) -> (label: String, unit: String?)? {
        Family(named: family)?.field(name).map { ($0.label, $0.unit) }
    }

    /// Returns the series to draw. Of pumps, only the temperatures, percentages and states are drawn, unless pumps have
    /// neither temperatures nor percentages.
    static func shown(_ series: [FoldedSeries]) -> [FoldedSeries] {
        func isUsual(_ series: FoldedSeries) -> Bool {
            series.name.hasSuffix("_c") || series.name.hasSuffix("_percent")
        }
        func isPump(_ series: FoldedSeries) -> Bool { series.family == "pump" }
        guard series.contains(where: { isPump($0) && isUsual($0) }) else { return series }
        return series.filter { !isPump($0) || isUsual($0) || $0.name == "state" }
    }
}
