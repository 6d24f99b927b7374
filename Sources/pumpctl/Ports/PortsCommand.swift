import ArgumentParser
import DescriptorIO
import DeviceKit
import SerialPort
import Terminal
import Transports

struct PortsCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports",
        abstract: "List the serial ports, without opening any.",
        discussion: "--watch follows plugging and unplugging until it is interrupted.",
        example: "pumpctl ports --watch")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Flag(help: "Follow plugging and unplugging.")
    var watch = false

    func run(in context: CommandContext) async throws {
        if watch {
            try await context.run(for: nil, whileRead: true) { try await follow(context.loop, context.output) }
        } else {
            await show(try SerialPortDiscovery.ports(), context.loop, context.output)
        }
    }

    /// Shows ports as a table or as records.
    ///
    /// - Parameter event: The event in each record with `--watch`; nil for none.
    private func show(_ ports: [SerialPortInfo], event: String? = nil, _ loop: EventLoop, _ output: Output) async {
        if ports.isEmpty { output.note("no serial ports") }
        let daemons = await Daemons.now(on: loop)
        let rows = ports.map { SeenPort($0, daemons) }
        if !rows.isEmpty { output.text(PortTable.text(rows, width: TerminalSize.current?.columns)) }
        for row in rows { output.record(record(row.info, event: event, row, among: ports)) }
    }

    /// Shows the present ports, and then each port that is attached or detached, until the task is cancelled.
    private func follow(_ loop: EventLoop, _ output: Output) async throws {
        if !SerialPortDiscovery.isUdevRunning {
            output.note("udev is not running: attached and detached ports may be missed")
        }
        do throws(SerialError) {
            let monitor = try SerialPortMonitor(on: loop)
            defer { monitor.close() }
            var ports = try monitor.presentPorts()
            await show(ports, event: "attached", loop, output)
            for try await event in monitor {
                switch event {
                case .attached(let port):
                    ports.append(port)
                    let seen = SeenPort(port, await Daemons.now(on: loop))
                    output.result(PortTable.line("+", port), record(port, event: "attached", seen, among: ports))
                case .detached(let port):
                    output.result(PortTable.line("-", port), record(port, event: "detached", nil, among: ports))
                    ports.removeAll { $0.path == port.path }
                }
            }
        } catch {
            throw Failure(discovery: error)
        }
        try Task.checkCancellation()
    }

    /// Returns the record of a port, for programs.
    ///
    /// - Parameters:
    ///   - seen: The port's users; nil for a detached port.
    ///   - ports: All ports, among which the record's endpoint must be unique.
    private func record(
        _ info: SerialPortInfo, event: String?, _ seen: SeenPort?, among ports: [SerialPortInfo]
    ) -> ResultRecord {
        let more: ResultRecord = [
            "event": event, "endpoint": USBEndpoint.naming(info, among: ports)?.description,
            "in_use": seen.map { !$0.holders.isEmpty || $0.shared != nil }, "holders": seen?.holders,
            "shared": seen?.shared,
        ]
        return ResultRecord(info, with: more.known)
    }
}
