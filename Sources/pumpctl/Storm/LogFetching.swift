import DescriptorIO
import DeviceKit
import LineProtocol
import Terminal

/// `storm log get`: fetches the log into a file or to standard output, piece by piece.
struct LogFetching {
    private let context: CommandContext
    private let quiet: Duration
    private let target: ReplacedFile

    /// - Parameters:
    ///   - quiet: How long a silence ends the log.
    ///   - path: The file; nil for standard output.
    init(_ context: CommandContext, quiet: Duration, path: String?) throws {
        self.context = context
        self.quiet = quiet
        target = try ReplacedFile(path: path)
    }

    func run() async throws {
        let link: any Link
        do {
            link = try await context.openLink()
        } catch {
            target.discard()
            throw error
        }
        let download = LogDownload(
            over: link, to: target, clock: context.clock, timeout: context.timeout, quiet: quiet)
        let progress = ProgressBar(
            clock: context.clock, isWanted: !target.isTerminal && !context.output.isJSON)
        let report: LogDownload.Report
        do throws(LogDownloadError) { report = try await download.run { progress.show($0) } } catch {
            progress.clear()
            throw failure(error)
        }
        progress.clear()
        if report.addedLineEndCount > 0 {
            context.output.note(
                "pumpctl: \(report.addedLineEndCount) rows came without a line end; each is on a line of its own")
        }
        if let path = target.path {
            context.output.outcome(
                "\(report.byteCount) bytes in \(path)",
                LogRecord(file: path, bytes: report.byteCount, liveRows: report.liveRowCount))
        }
    }

    /// Says what there is of a log that was cut off.
    private func failure(_ error: LogDownloadError) -> any Error {
        let kept = "\(error.byteCount) bytes of it " + (error.place.map { "are in \($0)" } ?? "were printed")
        if case .download(.session(let session)) = error.cause {
            guard error.byteCount > 0 else { return session }
            if session.code == .cancelled {
                context.output.note("pumpctl: the log is incomplete: \(kept)")
                return session
            }
            return Failure(
                .ioError, code: session.code.rawValue,
                "the log is incomplete: \(session.link?.description ?? "\(session)")", hint: "fetch it again; \(kept)",
                outcome: "incomplete")
        }
        var failure = Failure(error.cause)
        guard error.byteCount > 0 else { return failure }
        failure.message = "the log is incomplete: \(failure.message)"
        if failure.outcome != nil, let hint = failure.hint { failure.hint = "\(hint); \(kept)" }
        failure.outcome = "incomplete"
        return failure
    }
}

extension Failure {
    /// Why a log is not whole.
    fileprivate init(_ cause: LogDownloadError.Cause) {
        switch cause {
        case .download(.session(let error)): self.init(error, .storm)
        case .download(.restarted):
            self.init(
                .ioError, code: "restarted", "the sensor has restarted",
                hint: "check the sensor's power supply, then fetch the log again", outcome: "incomplete")
        case .download(.beganAgain):
            self.init(
                .ioError, code: "began_again", "it has begun again, since another program asked for it too",
                hint: "stop the other program, then fetch the log again", outcome: "incomplete")
        case .gaps(let count):
            let places = count == 1 ? "at the end of a packet" : "at the ends of \(count) packets"
            self.init(
                .ioError, code: "gaps", "something is missing \(places)",
                hint: "fetch it by a serial port, or have the sensor send shorter packets", outcome: "incomplete")
        case .file(let error): self.init(error)
        }
    }
}

/// A log that was fetched, as programs are told of it.
private struct LogRecord: Encodable {
    var ok = true
    var file: String
    var bytes: Int
    var liveRows: Int

    enum CodingKeys: String, CodingKey {
        case ok, file, bytes
        case liveRows = "live_rows"
    }
}
