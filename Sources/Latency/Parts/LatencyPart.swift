/// A part of a round trip.
public struct LatencyPart: Sendable, Hashable {
    /// What time is spent on.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
        /// This computer: the call that sends, and waking up for what has arrived.
        case host
        /// The bits of the question and of the answer on a serial line.
        case wire
        /// A USB adapter, which hands on what it has at the steps of its latency timer.
        case adapter
        /// The radio, by its connection events; or a network and a server.
        case carrier
        /// The device: waiting for its main loop, and working out the answer.
        case firmware
    }

    /// How it is known.
    public enum Basis: String, Sendable, Hashable {
        /// From the times of what was sent and of what arrived.
        case measured
        /// From the number of bytes and the rate of the line, which nothing that arrived contradicts or confirms.
        case computed
    }

    /// What the time was spent on; several, where they can't be told apart.
    public let causes: Set<Cause>
    public let basis: Basis
    /// Its times, one for each answer.
    public let times: TimeSummary
    /// Its part of all round trips, from 0 to 1.
    public let share: Double
}

/// Parts as they are found, one number for each sample, in milliseconds.
struct PartSheet {
    private(set) var rows: [(causes: Set<LatencyPart.Cause>, basis: LatencyPart.Basis, times: [Double])] = []

    /// Adds times to those of the same causes. What is computed of a part makes all of it computed.
    mutating func add(
        _ causes: Set<LatencyPart.Cause>, _ times: [Double], _ basis: LatencyPart.Basis = .measured
    ) {
        guard let index = rows.firstIndex(where: { $0.causes == causes }) else {
            return rows.append((causes, basis, times))
        }
        rows[index].times = zip(rows[index].times, times).map { $0 + $1 }
        if basis == .computed { rows[index].basis = .computed }
    }

    /// - Parameter total: All round trips together.
    func parts(of total: Double) -> [LatencyPart] {
        rows.compactMap { row in
            guard let times = TimeSummary(row.times) else { return nil }
            let share = total > 0 ? times.mean * Double(times.count) / total : 0
            return LatencyPart(causes: row.causes, basis: row.basis, times: times, share: share)
        }
    }
}
