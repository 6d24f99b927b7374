public import LineProtocol

/// Fetches a sensor's log into a file. The complete log replaces the file; otherwise the file stays unchanged.
///
/// ```swift
/// let link = try await LinkSchemes.families.open(Endpoint("ble:storm"))
/// let log = LogDownload(over: link, to: try ReplacedFile(path: "storm.log"))
/// print(try await log.run().byteCount)
/// ```
public struct LogDownload: Sendable {
    /// The result of a download.
    public struct Report: Sendable, Hashable {
        /// The number of bytes in the log.
        public var byteCount: Int
        /// The number of live rows that arrived during the download and are left out of the file.
        public var liveRowCount: Int
        /// The number of rows that arrived without a line end, which was added.
        public var addedLineEndCount: Int
        /// The number of lines that are no measurements, such as two rows that run together. The file contains them
        /// unchanged.
        public var oddLineCount: Int
        /// The first line that is no measurement; nil if there is none.
        public var oddLine: [UInt8]?
    }

    private let link: any Link
    private let target: ReplacedFile
    private let clock: any Clock<Duration>
    private let timeout: Duration
    private let quiet: Duration

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - link: The link to the sensor.
    ///   - target: The file for the log.
    ///   - clock: The clock for time-outs.
    ///   - timeout: The longest wait for the beginning of the log.
    ///   - quiet: The length of the silence that ends the log.
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

    /// Fetches the log, and closes the link.
    ///
    /// - Parameter progress: Called after each piece with the number of the log's bytes so far.
    /// - Returns: The result of the download.
    /// - Throws: ``LogDownloadError``, with the cause and the location of the received part.
    public func run(progress: (_ byteCount: Int) -> Void = { _ in }) async throws(LogDownloadError) -> Report {
        var download = StormDownload(over: link, clock: clock, timeout: timeout, quiet: quiet)
        var check = LogCheck()
        // On a terminal, control characters of the log must not act.
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

/// The reason that a log could not be fetched completely.
public struct LogDownloadError: Error, Sendable, Hashable {
    /// The kinds of causes.
    public enum Cause: Error, Sendable, Hashable {
        /// The log did not arrive completely.
        case download(StormDownload.Failure)
        /// Data is missing at this number of places between packets: see `StormDownload.gapCount`.
        case gaps(Int)
        /// The log could not be written.
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

    /// The cause of the failure.
    public let cause: Cause
    /// The number of the log's bytes that were received. They are kept at ``place``, except those that could not be
    /// written.
    public let byteCount: Int
    /// The path of the received part: `PATH.partial`, next to the requested file, which is unchanged; or the requested
    /// path, if that is a terminal, a pipe or /dev/null. Nil for standard output. If ``byteCount`` is 0, no part was
    /// kept.
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
            case .download(.beganAgain): "the sensor started the log again, because another program requested it too"
            case .gaps(let count): "data is missing in \(count.counted("place"))"
            case .file(let error): "\(error)"
            }
        guard byteCount > 0 else { return reason }
        let kept = "\(byteCount.counted("byte")) of it \(byteCount == 1 ? "is" : "are")"
        return "the log is incomplete, \(kept) in \(place ?? "standard output"): \(reason)"
    }
}
