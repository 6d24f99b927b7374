import ArgumentParser
import DeviceKit
import Diagnosis
import LineProtocol
import SerialPort
import Terminal
import Transports

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Diagnose a port or Bluetooth, and suggest fixes.",
        discussion: """
            Without a port, checks every USB port and Bluetooth; a problem with Bluetooth is a failure only if ble:NAME is \
            named, and then that device is looked for too. Opens no port, and connects to no device. Exits with 0 if no check \
            fails.

            With --fix on a terminal, shows each command that may solve a problem, such as sudo systemctl start bluetooth, and \
            runs it only if you type y and Enter.
            """,
        example: "pumpctl doctor ble:HMSoft")

    @OptionGroup var own: DoctorOptions
    var shared: SharedOptions { own.shared }

    @Argument(help: ArgumentHelp("The port, as for --port.", valueName: "endpoint"))
    var endpoint: String?

    func validate() throws {
        if let endpoint, let port = shared.port, port != endpoint {
            throw ValidationError("two ports are named: '\(port)' and '\(endpoint)'")
        }
    }

    func run() throws {
        let options = shared
        let (name, fix) = (endpoint ?? options.port, own.fix)
        try CommandRunner.run(options) { context in
            let endpoint = try name.map { name throws(LinkError) in try Endpoint(name) }
            let findings = try await Checkup.findings(at: endpoint, memory: BLEMemoryFile.user(), on: context.loop)
            for finding in findings { context.output.result(finding.text, finding.record) }
            if fix, !options.json, StandardStream.input.isTerminal, StandardStream.error.isTerminal {
                try await RemedyOffers(of: findings.compactMap(\.remedy)).make(in: context)
            }
            let obstacles = findings.compactMap(\.obstacle)
            if let first = obstacles.first {
                throw Failure(
                    ExitStatus(first), code: "unhealthy",
                    "\(obstacles.count.counted("check")) failed")
            }
        }
    }
}
