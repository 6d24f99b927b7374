/// Round numbers along an axis.
struct Ticks {
    /// The numbers, lowest first.
    let values: [Double]
    /// The distance between two ticks: 1, 2 or 5 times a power of ten.
    let step: Double

    /// Creates about five ticks, with `low` and `high` between the first and the last.
    init(from low: Double, to high: Double) {
        let span = high > low ? high - low : max(abs(low) * 0.1, 1)
        let raw = span / 4
        let magnitude = Self.power(of: raw)
        let step = [1, 2, 5, 10].map { $0 * magnitude }.first { $0 >= raw } ?? 10 * magnitude
        let first = (low / step).rounded(.down)
        let last = max((high / step).rounded(.up), first + 1)
        self.step = step
        values = (0...Int(last - first)).map { (first + Double($0)) * step }
    }

    var low: Double { values.first ?? 0 }
    var high: Double { values.last ?? 1 }

    /// The label of a tick, with as many decimals as the step has.
    func label(_ value: Double) -> String {
        var decimals = 0
        var scaled = step
        while decimals < 9, abs(scaled - scaled.rounded()) > 1e-6 {
            scaled *= 10
            decimals += 1
        }
        guard decimals > 0 else { return "\(Int(value.rounded()))" }
        var factor = 1
        for _ in 0..<decimals { factor *= 10 }
        let units = Int((abs(value) * Double(factor)).rounded())
        let fraction = "\(factor + units % factor)".dropFirst()
        return (value < 0 && units > 0 ? "-" : "") + "\(units / factor).\(fraction)"
    }

    /// The greatest power of ten that is not above `number`.
    private static func power(of number: Double) -> Double {
        var power = 1.0
        while power > number { power /= 10 }
        while power * 10 <= number { power *= 10 }
        return power
    }
}
