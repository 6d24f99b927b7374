public import LineProtocol

/// A sensor's log that is fetched into a file, which is replaced by the whole log or left as it was.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(Endpoint("ble:storm"))
/// let log = LogDownload(over: link, to: try ReplacedFile(path: "storm.log"))
/// print(try await log.run().byteCount)
/// ```
public struct LogDownload: Sendable {
    /// What has come.
    public struct Report: Sendable, Hashable {
        /// How many bytes of the log.
        public var byteCount: Int
        /// How many live rows came meanwhile, which are left out.
        public var liveRowCount: Int
        /// How many rows came without a line end, and were given one.
        public var addedLineEndCount: Int
        /// How many lines are no measurement, as two rows that run together are none. They are kept as they came.
        public var oddLineCount: Int
        /// The first of them.
        public var oddLine: [UInt8]?
    }

    private let link: any Link
    private let target: ReplacedFile
    private let clock: any Clock<Duration>
    private let timeout: Duration
    private let quiet: Duration

    /// A download that has not begun.
    ///
    /// - Parameters:
    ///   - timeout: How long the beginning of the log is waited for.
    ///   - quiet: How long a silence ends the log where the sensor does not say that it is over.
    public init(
        over link: any Link, to target: ReplacedFile, clock: any Clock<Duration> = ContinuousClock(),
        timeout: Duration = StormDownload.defaultTimeout, quiet: Duration = StormDownload.defaultQuiet
    ) {
        self.link = link
        self.target = target
        self.clock = clock
        self.timeout = timeout
        self.quiet = quiet
    }

    /// Fetches it, and closes the link.
    ///
    /// - Parameter progress: Called with the number of bytes that have come, after each piece.
    /// - Throws: What is wrong, and how much of the log is where.
    public func run(progress: (_ byteCount: Int) -> Void = { _ in }) async throws(LogDownloadError) -> Report {
        var download = StormDownload(over: link, clock: clock, timeout: timeout, quiet: quiet)
        var check = LogCheck()
        var screen = target.file.isTerminal ? TerminalText() : nil
        do {
            do {
                while let text = try await download.next() {
                    let text = try check.take(text, isAnnounced: download.isAnnounced)
                    try target.file.write(screen?.take(text) ?? text)
                    progress(check.byteCount)
                }
                let end = try check.finish()
                try target.file.write(screen?.take(end) ?? end)
                if let rest = screen?.takeRest() { try target.file.write(rest) }
            } catch {
                await link.close()
                throw error
            }
            await link.close()
            guard download.gapCount == 0 else { throw LogDownloadError.Cause.gaps(download.gapCount) }
            try target.complete()
        } catch {
            if check.byteCount == 0 { target.discard() }
            throw LogDownloadError(LogDownloadError.Cause(error), byteCount: check.byteCount, place: target.place)
        }
        return Report(
            byteCount: check.byteCount, liveRowCount: download.liveRowCount,
            addedLineEndCount: download.addedLineEndCount, oddLineCount: check.oddLineCount, oddLine: check.oddLine)
    }
}

/// Why a log was not fetched, or not all of it.
public struct LogDownloadError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Cause: Error, Sendable, Hashable {
        /// The log did not come, or not to its end.
        case download(StormDownload.Failure)
        /// In so many places something is missing.
        case gaps(Int)
        /// It could not be written.
        case file(FileError)

        init(_ error: any Error) {
            self =
                switch error {
                case let cause as Cause: cause
                case let error as FileError: .file(error)
                case let error as StormDownload.Failure: .download(error)
                case let error as SessionError: .download(.session(error))
                default: preconditionFailure("a download fails by no other error")
                }
        }
    }

    /// What is wrong.
    public let cause: Cause
    /// How many bytes of the log have come, and are kept at ``place``.
    public let byteCount: Int
    /// Where they are: beside the file that was asked for, which is as it was. Nil for standard output.
    public let place: String?

    init(_ cause: Cause, byteCount: Int, place: String?) {
        self.cause = cause
        self.byteCount = byteCount
        self.place = place
    }
}

extension LogDownloadError: CustomStringConvertible {
    public var description: String {
        let reason =
            switch cause {
            case .download(.session(let error)): "\(error)"
            case .download(.restarted): "the sensor has restarted"
            case .download(.beganAgain): "it has begun again, since another program asked for it too"
            case .gaps(let count): "something is missing in \(count.counted("place"))"
            case .file(let error): "\(error)"
            }
        guard byteCount > 0 else { return reason }
        let kept = "\(byteCount.counted("byte")) of it \(byteCount == 1 ? "is" : "are")"
        return "the log is incomplete, \(kept) in \(place ?? "standard output"): \(reason)"
    }
}
