import ArgumentParser

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ports", abstract: "List the serial ports.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    func run() throws {
        let output = Output(isJSON: shared.merged(with: parent.shared).json)
        let paths = SerialPorts.paths()
        if paths.isEmpty { output.note("no serial ports") }
        for path in paths { output.result(path, PortRecord(port: path)) }
    }
}

private struct PortRecord: Encodable {
    var port: String
}
