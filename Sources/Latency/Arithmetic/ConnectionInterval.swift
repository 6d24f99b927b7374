internal import Glibc

/// How often a BLE connection has an event, as far as the times of packets tell: bluetoothd does not say.
enum ConnectionInterval {
    /// Intervals are multiples of this (Bluetooth Core 5.3, Vol 6, Part B, 4.5.1), in milliseconds.
    private static let unit = 1.25
    /// The shortest and the longest that is looked for, in those units: 7.5 to 500 ms.
    private static let range = 6...400
    /// The fewest times between packets that tell of one.
    private static let fewest = 20
    /// How well times between packets must be multiples of the interval, whatever it is.
    private static let least = 0.8
    /// How late the host is told of packets, in milliseconds, as a deviation: what a long interval must be fitted to.
    private static let deviation = 1.0
    /// Times between packets beyond this, in milliseconds, are left out: two clocks drift apart.
    private static let longestGap = 2000.0

    /// The longest interval of which the times between packets are multiples; nil where there is none.
    ///
    /// Those between answers must be, as well as those within them: a device may well say its packets at a pace of its own,
    /// but not answer questions at random times at it. A device that never uses two events in a row seems to have a multiple
    /// of its interval.
    ///
    /// - Parameter answers: When the packets of each answer came, in milliseconds, in order.
    static func find(_ answers: [[Double]]) -> Double? {
        let between = zip(answers, answers.dropFirst()).map { ($1.first ?? 0) - ($0.last ?? 0) }
            .filter { $0 < longestGap }
        // Packets of one event come together, and tell nothing.
        let within = answers.flatMap { zip($0, $0.dropFirst()).map { $1 - $0 } }.filter { $0 > unit }
        guard between.count >= fewest, let shortest = (between + within).min() else { return nil }
        let scores = range.map { Double($0) * unit }.filter { $0 <= shortest + 2 * unit }.map { period in
            let inside = within.isEmpty ? 1 : Rhythm.multiplicity(of: within, period: period)
            return (period, min(inside, Rhythm.multiplicity(of: between, period: period)))
        }
        guard let longest = scores.last(where: { $0.1 >= leastFit($0.0) })?.0 else { return nil }
        // Its neighbours fit nearly as well.
        return scores.filter { abs($0.0 - longest) <= 3 * unit }.max { $0.1 < $1.1 }?.0
    }

    private static func leastFit(_ period: Double) -> Double {
        let angle = 2 * Double.pi * deviation / period
        // The time between two packets is that of two deviations.
        return max(least, exp(-angle * angle))
    }
}
