import FirmwareSim

/// A device with a fault: one row in the table of outcomes.
struct FaultCell: Sendable {
    /// The fault as an argument of `--fault`; `none` for a device without a fault.
    let text: String
    /// The options of the simulated device.
    let options: [String: String]

    /// Whether the fault exists only on the carrier in use, or the cell has several faults at once. Over BLE, only such
    /// cells are run with all seeds.
    let isOfCarrier: Bool

    /// The arguments of `--fault` that are tried for each fault. A fault that is not listed is tried by its name alone.
    private static let orders: [String: [String]] = [
        "corrupt": ["corrupt@20%"], "delay": ["delay@20%", "delay=5s@20%"], "disconnect": ["disconnect@20%"],
        "drain": ["drain@always"], "drift": ["drift", "drift=-2%"], "drop": ["drop@20%"],
        "duplicate": ["duplicate@20%"], "join": ["join@always"], "lost": ["lost@20%"], "noise": ["noise", "noise@20%"],
        "overrun": ["overrun@20%"], "reset": ["reset@10%"], "silence": ["silence@10%", "silence=2s@20%"],
        "split": ["split@always"], "stuck": ["stuck@10%"], "supervision": ["supervision@10%"], "twice": ["twice@20%"],
        "unplug": ["unplug@10%", "unplug=100ms@10%"],
    ]

    /// The faults of the cell that has several at once, as far as they apply to the family and the carrier.
    private static let mixture = [
        "corrupt@10%", "drop@10%", "lost@10%", "duplicate@10%", "split@20%", "overrun@10%", "unplug@5%",
        "disconnect@5%",
    ]

    private init(_ text: String, _ options: [String: String], isOfCarrier: Bool = false) {
        self.text = text
        self.options = options
        self.isOfCarrier = isOfCarrier
    }

    /// The cells of a family on a carrier: one without a fault, one or more for each fault that applies, one with
    /// several faults at once, and one for each of the family's own faults.
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

    /// Returns why a fault does not apply to a family on a carrier; nil if it applies.
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
