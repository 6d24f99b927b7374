import FirmwareSim
import TestSupport
import Testing

/// Runs a family on a carrier: each of its cells with several seeds.
enum FaultMatrix {
    private static let onWire = Seeds(100, soak: 200)
    /// Runs over BLE take real time, so they have fewer seeds.
    private static let overRadio = Seeds(20, soak: 100)
    /// The seeds over BLE for faults that a wire has too.
    private static let sharedFaults = Seeds(10, soak: 10)
    /// Whether this run has the seeds of the committed table, so that both can be compared.
    private static let areThoseOfTable = onWire.range == 0..<100 && overRadio.range == 0..<20
    /// The number of failures of a cell that are recorded one by one.
    private static let toldFailures = 3

    /// Runs all cells of a family on a carrier. An oracle judges each step. With the default seeds, the numbers of
    /// outcomes are also compared with the committed table.
    ///
    /// - Parameters:
    ///   - own: The family's own faults, by their syntax.
    ///   - run: Runs the script once on a device with these settings and this seed; returns nil if it does not end.
    static func check<Script: FaultScript>(
        _ simulator: Simulator, over carrier: SimulatorOption.Carrier, _ script: Script.Type,
        own: [(String, [String: String])] = [], _ run: (SimulatorSettings, UInt64) async throws -> [Outcome]?
    ) async throws {
        var section = OutcomeTable.Section(title: "\(Script.family) over \(carrier == .line ? "a wire" : "BLE")")
        let clock = ContinuousClock()
        let start = clock.now
        for cell in FaultCell.all(of: simulator, over: carrier, own: own.map { (text: $0.0, options: $0.1) }) {
            let settings = try simulator.settings(cell.options, over: carrier)
            var counts = OutcomeCounts()
            for seed in carrier == .line ? onWire : cell.isOfCarrier ? overRadio : sharedFaults {
                guard let outcomes = try await run(settings, seed) else {
                    counts.add(.failed("does not end"), "seed \(seed)")
                    continue
                }
                if outcomes.count != Script.steps.count {
                    counts.add(.failed("\(outcomes.count) outcomes for \(Script.steps.count) steps"), "seed \(seed)")
                }
                for (step, outcome) in zip(Script.steps, outcomes) { counts.add(outcome, "\(step), seed \(seed)") }
            }
            tell(counts.failures, of: cell)
            section.add(cell, counts)
        }
        if areThoseOfTable { finish(section, simulator, carrier) }
        print("\(section.title): \(clock.now - start)")
    }

    private static func tell(_ failures: [String], of cell: FaultCell) {
        for failure in failures.prefix(toldFailures) { Issue.record("\(cell.text), \(failure)") }
        if failures.count > toldFailures { Issue.record("\(cell.text): \(failures.count) failures in all") }
    }

    private static func finish(
        _ section: OutcomeTable.Section, _ simulator: Simulator, _ carrier: SimulatorOption.Carrier
    ) {
        var section = section
        for (fault, reason) in FaultCell.senseless(for: simulator, over: carrier) {
            section.add(senseless: fault, reason)
        }
        if let place = OutcomeTable.difference(of: section) {
            Issue.record("another table than that which is committed, now in \(place):\n\(section.text)")
        }
    }
}
