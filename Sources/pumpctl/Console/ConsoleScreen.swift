import DescriptorIO
import DeviceKit
import RecordFormat
import Terminal

/// The output of a console: above the line that is being typed, or on the standard streams.
struct ConsoleScreen {
    let lines: LineScreen
    let output: Output

    /// Shows a line of the device.
    ///
    /// - Parameter showsTime: Whether the line is preceded by the time.
    func show(_ line: DeviceLine, showsTime: Bool) {
        show((showsTime ? RecordTime.now.timeOfDay + "  " : "") + line.marked, Timed(line.record))
    }

    /// Shows an event: `text` for people, or `record` if the output is JSON.
    func show(_ text: String, _ record: some Encodable) { lines.print(output.isJSON ? Output.json(record) : text) }

    /// Shows a note, which does not come from the device.
    func note(_ text: String) {
        if lines.isEdited { lines.print("* \(text)") } else { output.note("* \(text)") }
    }
}

extension DeviceLine {
    /// The record of the line, for programs.
    var record: ResultRecord { ["line": text, "whole": isWhole] }
}
