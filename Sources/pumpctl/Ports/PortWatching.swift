import DescriptorIO
import SerialPort

/// `pumpctl ports --watch`: prints the ports that are there, and each that comes and goes.
struct PortWatching {
    let output: Output

    init(_ output: Output) { self.output = output }

    /// Runs until the task is cancelled.
    func run(on loop: EventLoop) async throws {
        if !SerialPortDiscovery.isUdevRunning {
            output.note("udev does not run here: ports that come and go may not be noticed")
        }
        do throws(SerialError) {
            let monitor = try SerialPortMonitor(on: loop)
            defer { monitor.close() }
            var ports = try monitor.presentPorts()
            PortListing(output).print(ports, event: "attached")
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
