import SerialPort

/// `pumpctl ports`: prints the ports that are there.
struct PortListing {
    let output: Output

    init(_ output: Output) { self.output = output }

    /// - Parameter event: What happened to each, where ports are watched.
    func print(_ ports: [SerialPortInfo], event: String? = nil) {
        if ports.isEmpty { output.note("no serial ports") }
        let rows = ports.map { (info: $0, holders: $0.holders()) }
        if !rows.isEmpty { output.text(PortTable.text(rows)) }
        for (info, holders) in rows {
            output.record(PortRecord(info, event: event, holders: holders, among: ports))
        }
    }
}
