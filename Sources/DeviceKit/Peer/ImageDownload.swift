public import LineProtocol

/// An image of a peer that is fetched into a file, which is replaced by the whole image or left as it was.
public struct ImageDownload: Sendable {
    /// What has come.
    public struct Report: Sendable, Hashable {
        /// The image, as the peer has announced it.
        public var image: PeerImage?
        /// How many bytes of it.
        public var byteCount: Int
    }

    private let link: any Link
    private let target: ReplacedFile
    private let clock: any Clock<Duration>
    private let timeout: Duration

    /// A download that has not begun.
    ///
    /// - Parameter timeout: How long the beginning of the image is waited for, and each further piece.
    public init(
        over link: any Link, to target: ReplacedFile, clock: any Clock<Duration> = ContinuousClock(),
        timeout: Duration = PeerImageDownload.defaultTimeout
    ) {
        self.link = link
        self.target = target
        self.clock = clock
        self.timeout = timeout
    }

    /// Fetches it, and closes the link.
    ///
    /// - Parameters:
    ///   - progress: Called after each piece.
    ///   - heard: Called with what the peer says meanwhile that is no part of the image.
    /// - Throws: What is wrong. Nothing is kept of the image.
    public func run(
        progress: (Report) -> Void = { _ in }, heard: (PeerPiece) -> Void = { _ in }
    ) async throws(ImageDownloadError) -> Report {
        var download = PeerImageDownload(over: link, clock: clock, timeout: timeout)
        // Of what can't be discarded nothing is written before the image is known to be right.
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

/// Why an image was not fetched.
public struct ImageDownloadError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Cause: Error, Sendable, Hashable {
        /// The image did not come, or not to its end.
        case download(PeerImageDownload.Failure)
        /// It could not be written.
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

    /// What is wrong.
    public let cause: Cause
    /// How much of the image had come. It is not kept.
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
        return "the image is incomplete: \(report.byteCount) of \(image.byteCount.counted("byte")) arrived: \(reason)"
    }
}
