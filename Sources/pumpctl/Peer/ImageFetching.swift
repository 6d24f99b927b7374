import LineProtocol

/// `image get`: fetches the image into a file, which is replaced by all of it or left as it was.
struct ImageFetching {
    private let context: CommandContext
    private let target: ReplacedFile

    init(_ context: CommandContext, path: String) throws {
        self.context = context
        target = try ReplacedFile(path: path)
    }

    func run() async throws {
        do {
            let (image, byteCount) = try await fetch()
            try target.complete()
            guard let path = target.path else { return }
            context.output.outcome(
                "\(byteCount) bytes in \(path)", ImageRecord(file: path, bytes: byteCount, name: image?.name))
        } catch {
            target.discard()
            throw error
        }
    }

    private func fetch() async throws -> (image: PeerImage?, byteCount: Int) {
        let link = try await context.openLink()
        var download = PeerImageDownload(over: link, clock: context.clock, timeout: context.timeout)
        let bar = ProgressBar(context)
        do {
            while let piece = try await download.next() {
                if case .imageData(let bytes) = piece {
                    try target.file.write(bytes)
                    bar.show(download.byteCount, of: download.image?.byteCount ?? 0)
                } else if let event = PeerEvent(piece), event.isSaidByPeople {
                    bar.clear()
                    context.output.note("pumpctl: the peer says: \(event.phrase)")
                }
            }
            bar.clear()
            await link.close()
        } catch {
            bar.clear()
            await link.close()
            throw failure(error, download)
        }
        return (download.image, download.byteCount)
    }

    /// Says how far the image came, and that the file is as it was.
    private func failure(_ error: any Error, _ download: PeerImageDownload) -> any Error {
        guard let error = error as? PeerImageDownload.Failure else { return error }
        switch error {
        case .image(let error): return Failure(error)
        case .session(let error):
            guard let image = download.image else { return error }
            let progress = "the image is incomplete, \(download.byteCount) of \(image.byteCount) bytes came"
            switch error.code {
            case .noAnswer:
                return Failure(
                    .temporaryFailure, code: error.code.rawValue,
                    "\(progress), and then nothing for \(context.timeout.inSeconds) s",
                    hint: "fetch it again, or wait longer by --timeout; nothing was written", outcome: "incomplete")
            case .linkLost, .closed:
                return Failure(
                    .ioError, code: error.code.rawValue, "\(progress): \(error.link?.description ?? "\(error)")",
                    hint: "fetch it again; nothing was written", outcome: "incomplete")
            case .cancelled, .overtaken:
                context.output.note("pumpctl: \(progress); nothing was written")
                return error
            case .refused, .notUnderstood: return error
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
