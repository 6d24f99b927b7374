import ArgumentParser
import DeviceKit
import LineProtocol
import Terminal

struct LogGetCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the stored log, byte for byte.",
        discussion: """
            The protocol has no end marker: a log is complete after a silence of --quiet. With -o, it is written to \
            FILE.partial, which becomes FILE once the log is complete. If the link breaks or you interrupt, the received part \
            stays in FILE.partial, FILE is unchanged, and the exit code is not 0.
            """,
        example: "pumpctl --port ble:storm storm log get -o storm.log")

    @OptionGroup var shared: SharedOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write, instead of standard output.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp("Silence after which the log is complete.", valueName: "seconds"),
        transform: SecondsArgument.typed)
    var quiet = SecondsArgument(argument: "1")!

    func validate() throws {
        if shared.json, output == nil || output == "-" {
            throw ValidationError("--json needs -o FILE: the log itself is not JSON")
        }
    }

    static var family: Family? { .storm }

    /// Downloads the log into a file or to standard output, piece by piece.
    func run(in context: CommandContext) async throws {
        let output = context.output
        try await context.download(to: self.output) { link, target, bar in
            let download = LogDownload(
                over: link, to: target, clock: context.clock, timeout: context.timeout, quiet: quiet.duration)
            let report: LogDownload.Report
            do throws(LogDownloadError) { report = try await download.run { bar.show($0) } } catch {
                bar.clear()
                throw failure(error, output)
            }
            bar.clear()
            if report.addedLineEndCount > 0 {
                let rows = report.addedLineEndCount.counted("row")
                output.note("pumpctl: \(rows) arrived without a line end; each was written on a line of its own")
            }
            if let line = report.oddLine {
                let count = report.oddLineCount
                output.note(
                    "pumpctl: warning: \(count.counted("line")) of the log \(count == 1 ? "is not a measurement" : "are not measurements"): "
                        + line.printable(limit: 60),
                    hint: "fetch the log again and compare: a row may have been damaged in transit")
            }
            return (
                report.byteCount,
                ["live_rows": .integer(report.liveRowCount), "odd_lines": .integer(report.oddLineCount)]
            )
        }
    }

    /// Returns the error for a failed download. If part of the log was received, the error or a note says how much,
    /// except after an error of the file.
    private func failure(_ error: LogDownloadError, _ output: Output) -> any Error {
        let hasSome = error.byteCount > 0
        let verbs = error.byteCount == 1 ? ("is", "was") : ("are", "were")
        let kept =
            "\(error.byteCount.counted("byte")) of it "
            + (error.place.map { "\(verbs.0) in \($0)" } ?? "\(verbs.1) printed")
        let (code, reason, hint): (String, String, String)
        switch error.cause {
        case .download(.session(let session)):
            if hasSome, session.code == .cancelled { output.note("pumpctl: the log is incomplete: \(kept)") }
            if !hasSome || session.code == .cancelled { return session }
            (code, reason) = (session.code.rawValue, session.link?.description ?? "\(session)")
            hint = "fetch the log again"
        case .download(.restarted):
            (code, reason) = ("restarted", "the sensor has restarted")
            hint = "check the sensor's power supply, then fetch the log again"
        case .download(.beganAgain):
            (code, reason) = ("began_again", "another program requested the log too, and it began again")
            hint = "stop the other program, then fetch the log again"
        case .gaps(let count):
            let places = count == 1 ? "at the end of a packet" : "at the ends of \(count) packets"
            (code, reason) = ("gaps", "data is missing \(places)")
            hint = "fetch the log over a serial port, or have the sensor send shorter packets"
        case .file(let error):
            var failure = Failure(error)
            if hasSome { (failure.message, failure.outcome) = ("the log is incomplete: \(error)", "incomplete") }
            return failure
        }
        guard hasSome else { return Failure(incomplete: code, reason, hint: hint) }
        return Failure(incomplete: code, "the log is incomplete: \(reason)", hint: "\(hint); \(kept)")
    }
}
