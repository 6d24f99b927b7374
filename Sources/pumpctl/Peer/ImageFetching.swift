import DeviceKit
import LineProtocol
import Terminal

/// `peer image get`: fetches the image into a file, which is replaced by all of it or left as it was.
struct ImageFetching {
    private let context: CommandContext
    private let target: ReplacedFile

    init(_ context: CommandContext, path: String) throws {
        self.context = context
        target = try ReplacedFile(path: path)
    }

    func run() async throws {
        let link: any Link
        do { link = try await context.openLink() } catch {
            target.discard()
            throw error
        }
        let bar = ProgressBar(clock: context.clock, isWanted: !context.output.isJSON)
        let report: ImageDownload.Report
        do throws(ImageDownloadError) {
            let download = ImageDownload(over: link, to: target, clock: context.clock, timeout: context.timeout)
            report = try await download.run { report in
                bar.show(report.byteCount, of: report.image?.byteCount)
            } heard: { piece in
                guard let event = PeerEvent(piece), event.isSaidByPeople else { return }
                bar.clear()
                context.output.note("pumpctl: the peer says: \(event)")
            }
        } catch {
            bar.clear()
            throw failure(error)
        }
        bar.clear()
        guard let path = target.path else { return }
        context.output.outcome(
            "\(report.byteCount) bytes in \(path)",
            ImageRecord(file: path, bytes: report.byteCount, name: report.image?.name))
    }

    /// Says how far the image came, and that the file is as it was.
    private func failure(_ error: ImageDownloadError) -> any Error {
        switch error.cause {
        case .file(let error): return Failure(error)
        case .download(.image(let error)): return Failure(error)
        case .download(.session(let session)):
            guard let image = error.report.image else { return session }
            let progress = "the image is incomplete, \(error.report.byteCount) of \(image.byteCount) bytes came"
            switch session.code {
            case .noAnswer:
                return Failure(
                    .temporaryFailure, code: session.code.rawValue,
                    "\(progress), and then nothing for \(context.timeout.inSeconds) s",
                    hint: "fetch it again, or wait longer by --timeout; nothing was written", outcome: "incomplete")
            case .linkLost, .closed:
                return Failure(
                    .ioError, code: session.code.rawValue,
                    "\(progress): \(session.link?.description ?? "\(session)")",
                    hint: "fetch it again; nothing was written", outcome: "incomplete")
            case .cancelled, .overtaken:
                context.output.note("pumpctl: \(progress); nothing was written")
                return session
            case .refused, .notUnderstood: return session
            }
        }
    }
}

extension Failure {
    /// What a peer sent is no image as it was announced.
    fileprivate init(_ error: PeerImageError) {
        let hint =
            switch error.code {
            case .beginBadFormat: "look with -v at what the peer sends: IMG_BEGIN needs a file name and a size"
            case .tooLarge: "choose a smaller image at the peer"
            case .base64Invalid, .sizeMismatch: "fetch it again: something was lost or damaged on the way"
            }
        self.init(
            .protocolError, code: error.code.rawValue, "\(error)", hint: hint + "; nothing was written",
            outcome: "incomplete")
    }
}

/// An image that was fetched, as programs are told of it.
private struct ImageRecord: Encodable {
    var ok = true
    var file: String
    var bytes: Int
    /// As the peer calls it.
    var name: String?
}
