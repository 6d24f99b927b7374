import Charts
import DeviceKit
import RecordFormat

/// What a plot of records shows.
enum HistoryPlot {
    /// The pump stops where its user's skin is warmer, in °C.
    static let limits = ["skin_temp_c": Chart.Limit(40, meaning: "stops above")]

    /// What a value is called, and its unit, as its family's row says; nil where that does not know it.
    static func naming(_ family: String, _ name: String) -> (label: String, unit: String?)? {
        Family(named: family)?.field(name).map { ($0.label, $0.unit) }
    }

    /// The values that are drawn. Of a pump, how long it still runs and the PWM are left out: the speed tells that.
    static func shown(_ series: [FoldedSeries]) -> [FoldedSeries] {
        func isUsual(_ series: FoldedSeries) -> Bool {
            series.name.hasSuffix("_c") || series.name.hasSuffix("_percent")
        }
        func isPump(_ series: FoldedSeries) -> Bool { series.family == "pump" }
        guard series.contains(where: { isPump($0) && isUsual($0) }) else { return series }
        return series.filter { !isPump($0) || isUsual($0) || $0.name == "state" }
    }
}
