import FirmwareSim

/// A device that has something wrong with it, as a row of the table of outcomes.
struct FaultCell: Sendable {
    /// How the fault is written.
    let text: String
    /// The options of the simulated device.
    let options: [String: String]

    /// The orders by which a fault is tried; one without any is tried as it happens by itself.
    private static let orders: [String: [String]] = [
        "corrupt": ["corrupt@20%"], "delay": ["delay@20%", "delay=5s@20%"], "drain": ["drain@always"],
        "drift": ["drift", "drift=-2%"], "drop": ["drop@20%"], "duplicate": ["duplicate@20%"], "join": ["join@always"],
        "lost": ["lost@20%"], "noise": ["noise", "noise@20%"], "overrun": ["overrun@20%"], "reset": ["reset@10%"],
        "silence": ["silence@10%", "silence=2s@20%"], "split": ["split@always"],
    ]

    private init(_ text: String, _ options: [String: String]) {
        self.text = text
        self.options = options
    }

    /// The cells of a family: one without a fault, one or several for each fault, and its own.
    ///
    /// - Parameter own: Faults of the family's own, by how they are written.
    static func all(over carrier: SimulatorOption.Carrier, own: [(text: String, options: [String: String])])
        -> [FaultCell]
    {
        let faults = Fault.all.filter { $0.carrier == nil || $0.carrier == carrier }
        var cells = [FaultCell("none", [:])]
        for order in faults.flatMap({ orders[$0.name] ?? [$0.name] }) {
            cells.append(FaultCell(order, ["fault": order]))
        }
        let mixture = ["corrupt@10%", "drop@10%", "lost@10%", "duplicate@10%", "split@20%", "overrun@10%"]
            .filter { order in faults.contains { order.hasPrefix($0.name) } }.joined(separator: ",")
        cells.append(FaultCell(mixture, ["fault": mixture]))
        return cells + own.map { FaultCell($0.text, $0.options) }
    }

    /// The faults that make no sense over a carrier.
    static func senseless(over carrier: SimulatorOption.Carrier) -> [Fault] {
        Fault.all.filter { $0.carrier != nil && $0.carrier != carrier }
    }
}
