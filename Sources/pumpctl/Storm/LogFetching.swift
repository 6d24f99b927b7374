import DescriptorIO
import Glibc
import LineProtocol

/// `log get`: fetches the log into a file or to standard output, piece by piece.
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
        var download = StormDownload(over: link, clock: context.clock, timeout: context.timeout, quiet: quiet)
        var progress = DownloadProgress(context, target.isTerminal)
        do {
            while let text = try await download.next() {
                try target.file.write(text)
                progress.show(download.byteCount)
            }
            progress.end()
            await link.close()
            if let gaps = Failure(gapsIn: download) { throw gaps }
            try target.complete()
        } catch {
            progress.end()
            await link.close()
            throw failure(error, after: download.byteCount)
        }
        if download.addedLineEndCount > 0 {
            context.output.note(
                "pumpctl: \(download.addedLineEndCount) rows came without a line end; each is on a line of its own")
        }
        if let path = target.path {
            context.output.outcome(
                "\(download.byteCount) bytes in \(path)",
                LogRecord(file: path, bytes: download.byteCount, liveRows: download.liveRowCount))
        }
    }

    /// Says what there is of a log that was cut off.
    private func failure(_ error: any Error, after count: Int) -> any Error {
        let error = (error as? StormDownload.Failure)?.asReported ?? error
        guard count > 0 else {
            target.discard()
            return error
        }
        let kept = "\(count) bytes of it " + (target.place.map { "are in \($0)" } ?? "were printed")
        switch error {
        case let error as SessionError where error.code == .cancelled:
            context.output.note("pumpctl: the log is incomplete: \(kept)")
            return error
        case let error as SessionError:
            return Failure(
                .ioError, code: error.code.rawValue, "the log is incomplete: \(error.link?.description ?? "\(error)")",
                hint: "fetch it again; \(kept)", outcome: "incomplete")
        case var failure as Failure:
            failure.message = "the log is incomplete: \(failure.message)"
            if failure.outcome != nil, let hint = failure.hint { failure.hint = "\(hint); \(kept)" }
            failure.outcome = "incomplete"
            return failure
        default: return error
        }
    }
}

extension StormDownload.Failure {
    /// The failure as a person and programs are told of it.
    fileprivate var asReported: any Error {
        switch self {
        case .session(let error): error
        case .restarted:
            Failure(
                .ioError, code: "restarted", "the sensor has restarted",
                hint: "check the sensor's power supply, then fetch the log again", outcome: "incomplete")
        case .beganAgain:
            Failure(
                .ioError, code: "began_again", "it has begun again, since another program asked for it too",
                hint: "stop the other program, then fetch the log again", outcome: "incomplete")
        }
    }
}

extension Failure {
    /// The log has gaps; nil where none is known.
    fileprivate init?(gapsIn download: StormDownload) {
        guard download.gapCount > 0 else { return nil }
        let places = download.gapCount == 1 ? "at the end of a packet" : "at the ends of \(download.gapCount) packets"
        self.init(
            .ioError, code: "gaps", "something is missing \(places)",
            hint: "fetch it by a serial port, or have the sensor send shorter packets", outcome: "incomplete")
    }
}

/// How far a download is, on a terminal.
private struct DownloadProgress {
    private static let interval = Duration.milliseconds(200)

    private let output: Output
    private let now: () -> ContinuousClock.Instant
    private let isShown: Bool
    private var shownAt: ContinuousClock.Instant
    private let began: ContinuousClock.Instant
    private var hasShown = false

    init(_ context: CommandContext, _ logIsOnTerminal: Bool) {
        output = context.output
        let clock = context.clock
        now = { clock.now }
        isShown = isatty(STDERR_FILENO) == 1 && !logIsOnTerminal && !context.output.isJSON
        began = clock.now
        shownAt = clock.now
    }

    mutating func show(_ count: Int) {
        guard isShown, shownAt.duration(to: now()) >= Self.interval else { return }
        shownAt = now()
        hasShown = true
        let rate = Double(count) / (began.duration(to: shownAt) / .seconds(1))
        output.progress("\(count / 1000) kB, \(Int(rate / 1000)) kB/s")
    }

    func end() { if hasShown { output.progress("") } }
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
