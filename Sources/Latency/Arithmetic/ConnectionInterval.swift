internal import Glibc

/// Estimates the connection interval of a BLE link from the arrival times of packets, since bluetoothd does not report
/// it. The thresholds are chosen; the tests check the results on generated packets and simulated devices.
enum ConnectionInterval {
    /// Intervals are multiples of this (Bluetooth Core 5.3, Vol 6, Part B, 4.5.1), in milliseconds.
    private static let unit = 1.25
    /// The shortest and the longest interval that is tried, in these units: 7.5 to 500 ms.
    private static let range = 6...400
    /// The fewest times between answers from which an interval is derived.
    private static let fewest = 20
    /// The least fit of the times between packets to multiples of the interval, for any interval.
    private static let least = 0.8
    /// The standard deviation of the delay with which the host gets a packet, in milliseconds. For intervals above 13 ms
    /// it demands a better fit than ``least``: see ``leastFit(_:)``.
    private static let deviation = 1.0
    /// Longer times between answers, in milliseconds, are ignored: the clocks of both sides drift apart.
    private static let longestGap = 2000.0

    /// Returns the longest interval, in milliseconds, of which the times between packets are multiples; nil if there is
    /// none, or there are too few answers.
    ///
    /// Both the times between answers and the times within answers must be multiples: a device may well send packets at
    /// a pace of its own, but it does not answer queries sent at random times at that pace. For a device that never
    /// uses two connection events in a row, the result is a multiple of its interval.
    ///
    /// - Parameter answers: The arrival times of each answer's packets, in milliseconds, in order.
    static func find(_ answers: [[Double]]) -> Double? {
        let between = zip(answers, answers.dropFirst()).map { ($1.first ?? 0) - ($0.last ?? 0) }
            .filter { $0 < longestGap }
        // Packets of one event arrive together, and show no interval.
        let within = answers.flatMap { zip($0, $0.dropFirst()).map { $1 - $0 } }.filter { $0 > unit }
        guard between.count >= fewest, let shortest = (between + within).min() else { return nil }
        let scores = range.map { Double($0) * unit }.filter { $0 <= shortest + 2 * unit }.map { period in
            let inside = within.isEmpty ? 1 : Rhythm.multiplicity(of: within, period: period)
            return (period, min(inside, Rhythm.multiplicity(of: between, period: period)))
        }
        guard let longest = scores.last(where: { $0.1 >= leastFit($0.0) })?.0 else { return nil }
        // Neighbouring intervals fit nearly as well: take the best of them.
        return scores.filter { abs($0.0 - longest) <= 3 * unit }.max { $0.1 < $1.1 }?.0
    }

    /// Returns the least fit with which a period counts as the interval: the fit that exact multiples have on average
    /// if each packet is late by a random time with ``deviation``; at least ``least``.
    private static func leastFit(_ period: Double) -> Double {
        let angle = 2 * Double.pi * deviation / period
        // The time between two packets contains the deviations of both.
        return max(least, exp(-angle * angle))
    }
}
