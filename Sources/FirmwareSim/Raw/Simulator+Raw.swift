extension Simulator {
    /// A device of no family. It answers by a script, or without a script sends each line back.
    ///
    /// Making the device throws ``DeviceFileError`` if the script can't be used.
    public static let raw = Simulator(
        "raw",
        options: [
            .baud(115_200, only: nil), .unpaced, .radioName("HMSoft"),
            SimulatorOption(
                "script", .file, help: "The script of replies; without a script, the device echoes each line."),
            SimulatorOption(
                "line-end", .choice(["crlf", "lf", "cr", "none"]), default: "crlf", help: "The line end of the output."),
            .faults(
                anywhere: true, senseless: [SenselessFault("stuck", "a device of no family has no error state")]),
        ],
        make: { try ScriptedFirmware(settings: $0) })
}

extension ScriptedFirmware {
    /// Creates a device with the options of ``Simulator/raw``.
    package init(settings: SimulatorSettings) throws(DeviceFileError) {
        var script: AnswerScript?
        if let path = settings.text("script") { script = try AnswerScript(path: path) }
        let ends = ["crlf": "\r\n", "lf": "\n", "cr": "\r"]
        self.init(
            script: script, lineEnd: Array((settings.text("line-end").flatMap { ends[$0] } ?? "").utf8),
            lineRate: settings.lineRate)
    }
}
