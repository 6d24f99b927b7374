import DescriptorIO
import DeviceKit
import Glibc

/// Where a console shows what it has to say: above the line that is edited, or on the standard streams.
final class ConsoleScreen {
    /// The line that is edited; nil where standard input or output is no terminal.
    let editor: LineEditor?
    private let output: Output
    private let showsTime: Bool

    init(_ output: Output, showsTime: Bool) {
        self.output = output
        self.showsTime = showsTime
        editor = LineEditor(output)
    }

    /// Shows a line of the device.
    func show(_ line: DeviceLine) {
        let now = WallTime.now
        let text = (showsTime ? now.timeOfDay + "  " : "") + line.marked
        let record = ConsoleLineRecord(line: line.text, isWhole: line.isWhole, time: now.iso8601)
        if let editor {
            editor.printAbove((output.isJSON ? Output.json(record) : text) + "\n")
        } else {
            output.result(text, record)
        }
    }

    /// Shows something that has come about.
    func show(_ text: String, _ record: some Encodable) {
        guard let editor else { return output.result(text, record) }
        editor.printAbove((output.isJSON ? Output.json(record) : text) + "\n")
    }

    /// Tells a person of something that the device did not say.
    func note(_ text: String) {
        if let editor { editor.printAbove("* \(text)\n") } else { output.note("* \(text)") }
    }
}

/// A line of the device as programs are told of it.
private struct ConsoleLineRecord: Encodable {
    var line: String
    var isWhole: Bool
    var time: String

    enum CodingKeys: String, CodingKey {
        case line, time
        case isWhole = "whole"
    }
}
