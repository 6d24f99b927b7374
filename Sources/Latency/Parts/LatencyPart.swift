/// A part of a round trip.
public struct LatencyPart: Sendable, Hashable {
    /// A cause on which time is spent.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// This computer: the sending call, and waking up for arrivals.
        case host
        /// The bits of the query and of the answer on a serial line.
        case wire
        /// A USB adapter, which delivers its bytes when its latency timer fires.
        case adapter
        /// The radio with its connection events, or a network and a server.
        case carrier
        /// The device: the wait for its main loop, and the work on the answer.
        case firmware
    }

    /// The evidence for a part.
    public enum Basis: String, Sendable, Hashable {
        /// The times of sending and of arrival.
        case measured
        /// The number of bytes and the rate of the line, which no arrival contradicts or confirms.
        case computed
    }

    /// The causes on which the time is spent; several if they can't be separated.
    public let causes: Set<Cause>
    /// The evidence for the part.
    public let basis: Basis
    /// Statistics of the part's times, one for each answer.
    public let times: TimeSummary
    /// The part's share of all round trips, from 0 to 1.
    public let share: Double
}

/// The parts found so far, with one number for each sample, in milliseconds.
struct PartSheet {
    private(set) var rows: [(causes: Set<LatencyPart.Cause>, basis: LatencyPart.Basis, times: [Double])] = []

    /// Adds times to the row with the same causes. A row with a computed component counts as computed.
    mutating func add(
        _ causes: Set<LatencyPart.Cause>, _ times: [Double], _ basis: LatencyPart.Basis = .measured
    ) {
        guard let index = rows.firstIndex(where: { $0.causes == causes }) else {
            return rows.append((causes, basis, times))
        }
        rows[index].times = zip(rows[index].times, times).map { $0 + $1 }
        if basis == .computed { rows[index].basis = .computed }
    }

    /// Returns the parts, with their shares.
    ///
    /// - Parameter total: The sum of all round trips.
    func parts(of total: Double) -> [LatencyPart] {
        rows.compactMap { row in
            guard let times = TimeSummary(row.times) else { return nil }
            let share = total > 0 ? times.mean * Double(times.count) / total : 0
            return LatencyPart(causes: row.causes, basis: row.basis, times: times, share: share)
        }
    }
}
