import FirmwareSim

/// A device with a fault: one row in the table of outcomes.
struct FaultCell: Sendable {
    /// The fault in the syntax of `--fault`.
    let text: String
    /// The options of the simulated device.
    let options: [String: String]

    /// Whether the fault exists only on this carrier.
    let isOfCarrier: Bool

    /// The fault orders that are tried for each fault. A fault that is not listed is tried without an occasion.
    private static let orders: [String: [String]] = [
        "corrupt": ["corrupt@20%"], "delay": ["delay@20%", "delay=5s@20%"], "disconnect": ["disconnect@20%"],
        "drain": ["drain@always"], "drift": ["drift", "drift=-2%"], "drop": ["drop@20%"],
        "duplicate": ["duplicate@20%"], "join": ["join@always"], "lost": ["lost@20%"], "noise": ["noise", "noise@20%"],
        "overrun": ["overrun@20%"], "reset": ["reset@10%"], "silence": ["silence@10%", "silence=2s@20%"],
        "split": ["split@always"], "stuck": ["stuck@10%"], "supervision": ["supervision@10%"], "twice": ["twice@20%"],
        "unplug": ["unplug@10%", "unplug=100ms@10%"],
    ]

    private static let mixture = [
        "corrupt@10%", "drop@10%", "lost@10%", "duplicate@10%", "split@20%", "overrun@10%", "unplug@5%",
        "disconnect@5%",
    ]

    private init(_ text: String, _ options: [String: String], isOfCarrier: Bool = false) {
        self.text = text
        self.options = options
        self.isOfCarrier = isOfCarrier
    }

    /// The cells of a family: one without a fault, one or more for each applicable fault, one with several at once, and
    /// the family's own.
    ///
    /// - Parameter own: The family's own faults, by their syntax.
    static func all(
        of simulator: Simulator, over carrier: SimulatorOption.Carrier,
        own: [(text: String, options: [String: String])]
    ) -> [FaultCell] {
        let faults = Fault.all.filter { reason(against: $0.name, simulator, carrier) == nil }
        let single = faults.flatMap { fault in
            (orders[fault.name] ?? [fault.name]).map {
                FaultCell($0, ["fault": $0], isOfCarrier: fault.carrier == carrier)
            }
        }
        let mixed = mixture.filter { order in faults.contains { order.hasPrefix($0.name) } }.joined(separator: ",")
        return [FaultCell("none", [:])] + single + [FaultCell(mixed, ["fault": mixed], isOfCarrier: true)]
            + own.map { FaultCell($0.text, $0.options) }
    }

    /// The faults that do not apply to a family on a carrier, with the reasons.
    static func senseless(
        for simulator: Simulator, over carrier: SimulatorOption.Carrier
    ) -> [(fault: String, reason: String)] {
        Fault.all.compactMap { fault in
            reason(against: fault.name, simulator, carrier).map { (fault.name, $0) }
        }
    }

    private static func reason(
        against fault: String, _ simulator: Simulator, _ carrier: SimulatorOption.Carrier
    ) -> String? {
        do throws(SimulatorOptionError) { _ = try simulator.settings(["fault": fault], over: carrier) } catch {
            switch error.problem {
            case .senseless(let fault): return fault.reason
            case .fault(_, let only): return only == .line ? "it is of a line" : "it is of the air"
            default: return "\(error)"
            }
        }
        return nil
    }
}
