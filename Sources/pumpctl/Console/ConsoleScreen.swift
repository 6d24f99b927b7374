import DescriptorIO
import DeviceKit
import RecordFormat
import Terminal

/// Where a console shows what it has to say: above the line that is typed, or on the standard streams.
struct ConsoleScreen {
    let lines: LineScreen
    let output: Output

    /// Shows a line of the device.
    ///
    /// - Parameter showsTime: Whether it is preceded by the time.
    func show(_ line: DeviceLine, showsTime: Bool) {
        show((showsTime ? RecordTime.now.timeOfDay + "  " : "") + line.marked, Timed(line.record))
    }

    /// Shows something that has come about.
    func show(_ text: String, _ record: some Encodable) { lines.print(output.isJSON ? Output.json(record) : text) }

    /// Tells a person of something that the device did not say.
    func note(_ text: String) {
        if lines.isEdited { lines.print("* \(text)") } else { output.note("* \(text)") }
    }
}

extension DeviceLine {
    /// As programs are told of it.
    var record: ResultRecord { ["line": text, "whole": isWhole] }
}
