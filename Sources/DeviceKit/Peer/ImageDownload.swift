public import LineProtocol

/// Fetches a peer's image into a file. The complete image replaces the file; otherwise the file stays unchanged.
public struct ImageDownload: Sendable {
    /// The state of a download.
    public struct Report: Sendable, Hashable {
        /// The image, as announced by the peer; nil before the announcement.
        public var image: PeerImage?
        /// The number of bytes received.
        public var byteCount: Int
    }

    private let link: any Link
    private let target: ReplacedFile
    private let clock: any Clock<Duration>
    private let timeout: Duration

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - link: The link to the peer.
    ///   - target: The file for the image.
    ///   - clock: The clock for the time-out.
    ///   - timeout: The longest wait for the beginning of the image, and for each further piece.
    public init(
        over link: any Link, to target: ReplacedFile, clock: any Clock<Duration> = ContinuousClock(),
        timeout: Duration = PeerImageDownload.defaultTimeout
    ) {
        self.link = link
        self.target = target
        self.clock = clock
        self.timeout = timeout
    }

    /// Fetches the image, and closes the link.
    ///
    /// - Parameters:
    ///   - progress: Called after each piece of the image.
    ///   - heard: Called with all other pieces, such as a text for people or the announcement of the image.
    /// - Returns: The final state of the download.
    /// - Throws: ``ImageDownloadError``. The received part of the image is then not kept.
    public func run(
        progress: (Report) -> Void = { _ in }, heard: (PeerPiece) -> Void = { _ in }
    ) async throws(ImageDownloadError) -> Report {
        var download = PeerImageDownload(over: link, clock: clock, timeout: timeout)
        // If the output can't be discarded, nothing is written until the image is complete.
        var held: [UInt8] = []
        do {
            do {
                while let piece = try await download.next() {
                    guard case .imageData(let bytes) = piece else {
                        heard(piece)
                        continue
                    }
                    if target.isBeside { try target.file.write(bytes) } else { held += bytes }
                    progress(Report(image: download.image, byteCount: download.byteCount))
                }
            } catch {
                await link.close()
                throw error
            }
            await link.close()
            if !held.isEmpty { try target.file.write(held) }
            try target.complete()
        } catch {
            target.discard()
            throw ImageDownloadError(
                ImageDownloadError.Cause(error), Report(image: download.image, byteCount: download.byteCount))
        }
        return Report(image: download.image, byteCount: download.byteCount)
    }
}

/// The reason that an image could not be fetched.
public struct ImageDownloadError: Error, Sendable, Hashable {
    /// The kinds of causes.
    public enum Cause: Error, Sendable, Hashable {
        /// No complete, valid image arrived.
        case download(PeerImageDownload.Failure)
        /// The image could not be written.
        case file(FileError)

        init(_ error: any Error) {
            self =
                switch error {
                case let error as FileError: .file(error)
                case let error as PeerImageDownload.Failure: .download(error)
                default: preconditionFailure("a download fails by no other error")
                }
        }
    }

    /// The cause of the failure.
    public let cause: Cause
    /// The state of the download at the failure. The received bytes are not kept.
    public let report: ImageDownload.Report

    init(_ cause: Cause, _ report: ImageDownload.Report) {
        self.cause = cause
        self.report = report
    }
}

extension ImageDownloadError: CustomStringConvertible {
    public var description: String {
        let reason =
            switch cause {
            case .download(.session(let error)): "\(error)"
            case .download(.image(let error)): "\(error)"
            case .file(let error): "\(error)"
            }
        guard let image = report.image else { return reason }
        return "the image was not saved; \(report.byteCount) of \(image.byteCount.counted("byte")) arrived: \(reason)"
    }
}
