import DescriptorIO
import FoundationEssentials
import LineProtocol
import Synchronization
import Terminal

/// The output of a command: results on standard output, as text or as JSON for programs; notes, progress and failures
/// on standard error. With JSON, a failure is printed on standard output too. All functions may be called on any
/// thread.
struct Output: Sendable {
    let isJSON: Bool
    private let results: ResultStream
    private let outcome = Outcome()

    /// Creates an output for text or JSON, on standard output by default.
    init(isJSON: Bool, on results: ResultStream = ResultStream()) { (self.isJSON, self.results) = (isJSON, results) }

    /// The errno of a failed write to standard output, EPIPE if its reader has gone; nil as long as no write has
    /// failed.
    var failure: Int32? { results.failure }

    /// Calls `body` when standard output fails, or at once if it has failed. Replaces an earlier `body`.
    func onFailure(_ body: @escaping @Sendable () -> Void) { results.onFailure(body) }

    /// Makes standard output fail as soon as its reader has gone, for a command that only shows events, and for
    /// a timed run, which prints nothing for minutes.
    func needsReader(on loop: EventLoop) { results.failWithoutReader(on: loop) }

    /// Makes a write to standard output or standard error fail if 1 MiB is pending, instead of waiting for the reader;
    /// for a command that holds a device. A failure of standard output cancels the command.
    func neverWait() {
        StreamWriter.output.neverWait()
        StreamWriter.error.neverWait()
    }

    /// Whether standard output may be coloured: it is text on a terminal with colours, and NO_COLOR is not set.
    var isColoured: Bool { StandardStream.output.isColoured && !isJSON }

    /// Prints `text`, or `value` as one JSON object on a line.
    func result(_ text: @autoclosure () -> String, _ value: @autoclosure () -> some Encodable) {
        line(isJSON ? Self.json(value()) : text())
    }

    /// Prints the outcome of a command that has an effect, as a result. If standard output fails, the failure includes
    /// `text`, so that the effect is reported.
    func outcome(_ text: String, _ value: @autoclosure () -> some Encodable) {
        outcome.text.withLock { $0 = text }
        result(text, value())
    }

    /// The text of the last outcome, even if printing it failed; nil if there was no outcome.
    var lastOutcome: String? { outcome.text.withLock(\.self) }

    /// Prints a line of text, unless the output is JSON.
    func text(_ text: @autoclosure () -> String) {
        if !isJSON { line(text()) }
    }

    /// Writes text to standard output, without adding a line end.
    func draw(_ text: String) { results.write(text) }

    /// Prints `value` as one JSON object on a line, if the output is JSON.
    func record(_ value: @autoclosure () -> some Encodable) {
        if isJSON { line(Self.json(value())) }
    }

    /// Prints a note on standard error, wrapped at words on a terminal.
    func note(_ text: String) {
        StreamWriter.error.write((TerminalSize.ofErrors.map { text.wrapped(to: $0.columns) } ?? text) + "\n")
    }

    /// Prints a note on standard error, with a hint.
    func note(_ text: String, hint: String?) { note(text + (hint.map { "\n  hint: \($0)" } ?? "")) }

    /// Replaces the line of progress on the terminal at standard error. An empty text removes the line.
    func progress(_ text: String) { StreamWriter.error.redrawLine(text) }

    /// Rings the bell if standard error is a terminal.
    func ringBell() { if StandardStream.error.isTerminal { StreamWriter.error.write("\u{07}") } }

    /// Reports a failure on standard error, and as an object if the output is JSON.
    ///
    /// - Parameter exitCode: The exit status for the object; nil for the exit status of the failure.
    func report(_ failure: Failure, exitCode: Int32? = nil) {
        note(of: failure)
        record(exitCode.map { ResultRecord(failure.record, with: ["exit_code": $0]) } ?? failure.record)
    }

    /// Reports a failure on standard error.
    func note(of failure: Failure) {
        // The texts may contain names or output of devices, and so control characters.
        note("pumpctl: \(failure.message.printable())", hint: failure.hint?.printable())
    }

    /// Reports a failure as an object, if the output is JSON.
    func record(of failure: Failure) { record(failure.record) }

    private func line(_ text: String) { results.write(text + "\n") }

    /// Returns the JSON text of a value on one line, with sorted keys and without control characters.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding fails for infinity and NaN, but no record contains them.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return String(decoding: data, as: UTF8.self).printableInJSON()
    }
}

/// Holds the last outcome of a command.
private final class Outcome: Sendable {
    let text = Mutex<String?>(nil)
}
