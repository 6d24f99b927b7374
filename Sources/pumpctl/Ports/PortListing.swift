import DescriptorIO
import SerialPort

/// `pumpctl ports`: prints the ports that are there, and with `--watch` each that comes and goes.
struct PortListing {
    let output: Output

    /// - Parameter event: What happened to each, where ports are watched.
    func print(_ ports: [SerialPortInfo], event: String? = nil) {
        if ports.isEmpty { output.note("no serial ports") }
        let rows = ports.map { (info: $0, holders: $0.holders()) }
        if !rows.isEmpty { output.text(PortTable.text(rows)) }
        for (info, holders) in rows {
            output.record(PortRecord(info, event: event, holders: holders, among: ports))
        }
    }

    /// Runs until the task is cancelled.
    func watch(on loop: EventLoop) async throws {
        if !SerialPortDiscovery.isUdevRunning {
            output.note("udev does not run here: ports that come and go may not be noticed")
        }
        do throws(SerialError) {
            let monitor = try SerialPortMonitor(on: loop)
            defer { monitor.close() }
            var ports = try monitor.presentPorts()
            print(ports, event: "attached")
            for try await event in monitor {
                switch event {
                case .attached(let port):
                    ports.append(port)
                    let record = PortRecord(port, event: "attached", holders: port.holders(), among: ports)
                    output.result(PortTable.line("+", port), record)
                case .detached(let port):
                    let record = PortRecord(port, event: "detached", holders: nil, among: ports)
                    ports.removeAll { $0.path == port.path }
                    output.result(PortTable.line("-", port), record)
                }
            }
        } catch {
            throw Failure(discovery: error)
        }
        try Task.checkCancellation()
    }
}
