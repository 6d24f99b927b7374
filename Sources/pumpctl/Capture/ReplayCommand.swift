import ArgumentParser
import CaptureFormat
import DeviceKit
import LineProtocol

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show the traffic in a capture, with times.",
        discussion: """
            Each line has the seconds since the start of the capture, and > for sent or < for received data. To play a \
            capture back to a command, use it as the endpoint: pumpctl --port replay:FILE status.
            """,
        example: "pumpctl replay pump.capture")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Argument(help: "A file written by --capture or 'record'.")
    var file: String

    @Option(help: ArgumentHelp("Show only this link of the capture; the first is 1.", valueName: "number"))
    var link: Int?

    @Flag(help: "Show the pieces as they were sent and received, instead of lines.")
    var pieces = false

    @Flag(
        help:
            "Print Swift code for a test: a ScriptedSession of the first link, or of the link that --link names.")
    var asTest = false

    func validate() throws {
        if asTest, shared.json {
            throw ValidationError("--as-test cannot be combined with --json")
        }
    }

    func run() throws {
        let output = Output(isJSON: shared.json)
        do throws(CaptureError) { try show(output) } catch {
            let failure = Failure(error)
            output.report(failure)
            throw ExitCode(failure.status.rawValue)
        }
    }

    private func show(_ output: Output) throws(CaptureError) {
        var reader = try CaptureReader(file)
        var printer: any CapturePrinter =
            if asTest { CaptureFixture(pieces: pieces) } else if output.isJSON { CaptureJSON() } else {
                CaptureText(pieces: pieces)
            }
        let wanted = asTest ? link ?? 1 : link
        output.draw(printer.begin(reader.header))
        while output.failure == nil, let event = try reader.next() {
            if wanted == nil || event.link == wanted { output.draw(printer.text(of: event)) }
        }
        output.draw(printer.end())
        if reader.isCut {
            output.note("pumpctl: \(file.printable()): line \(reader.lineNumber) is cut off, and is left out")
        }
    }
}

/// An output format of `replay`. The functions return text, which the command prints.
protocol CapturePrinter {
    /// Returns the text before the first event.
    func begin(_ header: CaptureHeader) -> String
    /// Returns the text of the next event. It may include text that an earlier event has left open.
    mutating func text(of event: CaptureEvent) -> String
    /// Returns the text after the last event.
    mutating func end() -> String
}

/// Prints a capture as in its file: one JSON object a line.
struct CaptureJSON: CapturePrinter {
    func begin(_ header: CaptureHeader) -> String { header.json + "\n" }
    func text(of event: CaptureEvent) -> String { event.json + "\n" }
    func end() -> String { "" }
}
