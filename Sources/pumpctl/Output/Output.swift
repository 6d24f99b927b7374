import DescriptorIO
import FoundationEssentials
import LineProtocol
import Synchronization
import Terminal

/// Where a command's results go: text for people or JSON for programs on standard output, the rest on standard error.
struct Output: Sendable {
    let isJSON: Bool
    private let results: ResultStream
    private let outcome = Outcome()

    /// For text or JSON, on standard output unless told otherwise.
    init(isJSON: Bool, on results: ResultStream = ResultStream()) { (self.isJSON, self.results) = (isJSON, results) }

    /// Why standard output took no more, as an errno: EPIPE where its reader has gone. Nil as long as all was written.
    var failure: Int32? { results.failure }

    /// Calls `body` once standard output takes no more; at once where that is so. In place of what was to be called before.
    func onFailure(_ body: @escaping @Sendable () -> Void) { results.onFailure(body) }

    /// For a command that only shows what happens: standard output takes no more once its reader has gone.
    func needsReader(on loop: EventLoop) { results.failWithoutReader(on: loop) }

    /// For a command that holds a device, and so must not wait for whoever reads what it prints: where too much waits to be
    /// read, standard output counts as one that takes no more.
    func neverWait() {
        StreamWriter.output.neverWait()
        StreamWriter.error.neverWait()
    }

    /// Whether standard output may be coloured: a terminal that has colours, and no NO_COLOR.
    var isColoured: Bool { StandardStream.output.isColoured && !isJSON }

    /// Prints `text`, or `value` as one JSON object on a line of its own.
    func result(_ text: @autoclosure () -> String, _ value: @autoclosure () -> some Encodable) {
        line(isJSON ? Self.json(value()) : text())
    }

    /// Prints what a command has done, as a result. Where standard output does not take it, it is said with that failure.
    func outcome(_ text: String, _ value: @autoclosure () -> some Encodable) {
        outcome.text.withLock { $0 = text }
        result(text, value())
    }

    /// What the command has done, as it was to be printed last.
    var lastOutcome: String? { outcome.text.withLock(\.self) }

    /// Prints a line of text, where people read.
    func text(_ text: @autoclosure () -> String) {
        if !isJSON { line(text()) }
    }

    /// Writes to the terminal what is not a line of its own.
    func draw(_ text: String) { results.write(text) }

    /// Prints `value` as one JSON object on a line of its own, where programs read.
    func record(_ value: @autoclosure () -> some Encodable) {
        if isJSON { line(Self.json(value())) }
    }

    /// Prints a note on standard error, which on a terminal breaks at words.
    func note(_ text: String) {
        StreamWriter.error.write((TerminalSize.ofErrors.map { text.wrapped(to: $0.columns) } ?? text) + "\n")
    }

    /// Prints a note on standard error, and what to do about it.
    func note(_ text: String, hint: String?) { note(text + (hint.map { "\n  hint: \($0)" } ?? "")) }

    /// Shows on the terminal how far something is, in place of what was shown so before.
    func progress(_ text: String) { StreamWriter.error.redrawLine(text) }

    /// Rings the bell of the terminal that standard error is; elsewhere nothing.
    func ringBell() { if StandardStream.error.isTerminal { StreamWriter.error.write("\u{07}") } }

    /// Tells of a failure: on standard error, and to programs as an object too.
    ///
    /// - Parameter exitCode: With what the program ends, where that is not the status of the failure.
    func report(_ failure: Failure, exitCode: Int32? = nil) {
        note(of: failure)
        record(exitCode.map { ResultRecord(failure.record, with: ["exit_code": $0]) } ?? failure.record)
    }

    /// Tells people of a failure.
    func note(of failure: Failure) {
        // They may hold what devices are called, or what they said.
        note("pumpctl: \(failure.message.printable())", hint: failure.hint?.printable())
    }

    /// Tells programs of a failure.
    func record(of failure: Failure) { record(failure.record) }

    private func line(_ text: String) { results.write(text + "\n") }

    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers that are none are left out by the records themselves.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return String(decoding: data, as: UTF8.self).printableInJSON()
    }
}

/// What a command has done.
private final class Outcome: Sendable {
    let text = Mutex<String?>(nil)
}
