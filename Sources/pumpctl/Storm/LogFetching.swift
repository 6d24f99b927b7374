import DescriptorIO
import Glibc
import LineProtocol

/// `log get`: fetches the log into a file or to standard output, piece by piece.
struct LogFetching {
    private let context: CommandContext
    private let quiet: Duration
    private let target: Target

    /// - Parameters:
    ///   - quiet: How long a silence ends the log.
    ///   - path: The file; nil for standard output.
    init(_ context: CommandContext, quiet: Duration, path: String?) throws {
        self.context = context
        self.quiet = quiet
        target = try Target(path: path)
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
            try target.complete()
        } catch {
            progress.end()
            await link.close()
            throw failure(error, after: download.byteCount)
        }
        if let path = target.path {
            context.output.result(
                "\(download.byteCount) bytes in \(path)",
                LogRecord(file: path, bytes: download.byteCount, liveRows: download.liveRowCount))
        }
    }

    /// Says what there is of a log that was cut off.
    private func failure(_ error: any Error, after count: Int) -> any Error {
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
                hint: "\(kept); fetch it again", outcome: "incomplete")
        case var failure as Failure:
            failure.message = "the log is incomplete: \(failure.message)"
            failure.outcome = "incomplete"
            return failure
        default: return error
        }
    }
}

/// Where the log goes: into a file under another name until it is whole.
private struct Target {
    /// What was asked for; nil for standard output.
    let path: String?
    let file: OutputFile

    init(path: String?) throws(Failure) {
        self.path = path
        guard let path else {
            file = OutputFile()
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw Failure(file: path, errno: EISDIR) }
        // A terminal, a pipe, /dev/null: there is nothing to keep.
        let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
        file = try OutputFile(path: isSpecial ? path : path + ".partial", .replace)
    }

    /// Where what came is; nil for standard output.
    var place: String? { file.path }

    /// Whether the log is shown on the terminal.
    var isTerminal: Bool { path == nil && isatty(STDOUT_FILENO) == 1 }

    /// The log is whole.
    func complete() throws(Failure) {
        guard let path, let place, place != path else { return }
        guard rename(place, path) == 0 else { throw Failure(file: path, errno: errno) }
    }

    /// Nothing came.
    func discard() {
        if let place, place != path { unlink(place) }
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
