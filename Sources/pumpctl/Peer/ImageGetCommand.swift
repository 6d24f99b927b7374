import ArgumentParser
import DeviceKit
import LineProtocol
import Terminal

struct ImageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Fetch the image of a peer.", subcommands: [ImageGetCommand.self])
}

struct ImageGetCommand: PeerSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Fetch the image that is selected on the peer.",
        discussion: """
            The image is written to FILE.partial, which becomes FILE once the image is complete and has the announced size. \
            In all other cases, FILE is unchanged, nothing is written to standard output, and the exit code is not 0: 1 \
            if the peer has no image to send, 76 if the received image is not valid. --timeout limits the time without new data.
            """,
        example: "pumpctl --port ble:QDevice1 peer image get -o photo.png")

    @OptionGroup var shared: SharedOptions

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var output: String

    func validate() throws {
        if shared.json, output == "-" {
            throw ValidationError("--json needs -o FILE: the image itself is not JSON")
        }
        if output == "-", StandardStream.output.isTerminal {
            throw ValidationError("-o - cannot be used on a terminal: name a file")
        }
    }

    /// Downloads the image into a file. The file is replaced by the complete image, or left unchanged.
    func run(in context: CommandContext) async throws {
        try await context.download(to: output) { link, target, bar in
            defer { bar.clear() }
            let download = ImageDownload(over: link, to: target, clock: context.clock, timeout: context.timeout)
            do throws(ImageDownloadError) {
                let report = try await download.run { report in
                    bar.show(report.byteCount, of: report.image?.byteCount)
                } heard: { piece in
                    guard let event = PeerEvent(piece), event.isSaidByPeople else { return }
                    bar.clear()
                    context.output.note("pumpctl: the peer says: \(event)")
                }
                return (report.byteCount, report.image.map { ["name": .text($0.name)] } ?? [:])
            } catch {
                bar.clear()
                throw failure(error, context)
            }
        }
    }

    /// Returns the failure for an image that could not be fetched. If the link broke or no more data came after the
    /// peer had announced the image, the failure says how much arrived.
    private func failure(_ error: ImageDownloadError, _ context: CommandContext) -> any Error {
        switch error.cause {
        case .file(let error): return Failure(error)
        case .download(.image(let error)): return Failure(error)
        case .download(.session(let session)):
            guard let image = error.report.image else { return session }
            let progress =
                "the image is incomplete: \(error.report.byteCount) of \(image.byteCount.counted("byte")) arrived"
            switch session.code {
            case .noAnswer:
                return Failure(
                    incomplete: session.code.rawValue,
                    "\(progress), and then nothing for \(context.timeout.inSeconds) s",
                    hint: "fetch it again, or raise --timeout; nothing was written", .temporaryFailure)
            case .linkLost, .closed:
                return Failure(
                    incomplete: session.code.rawValue, "\(progress): \(session.link?.description ?? "\(session)")",
                    hint: "fetch it again; nothing was written")
            case .cancelled, .overtaken:
                context.output.note("pumpctl: \(progress); nothing was written")
                return session
            case .refused, .notUnderstood, .deviceAway, .unconfirmed, .notInEffect: return session
            }
        }
    }
}

extension Failure {
    /// Creates the failure for a received image that is not valid.
    fileprivate init(_ error: PeerImageError) {
        let hint =
            switch error.code {
            case .beginBadFormat: "check the traffic with -v: IMG_BEGIN needs a file name and a size"
            case .tooLarge: "select a smaller image on the peer"
            case .base64Invalid, .sizeMismatch: "fetch it again: data was lost or damaged in transit"
            }
        self.init(incomplete: error.code.rawValue, "\(error)", hint: hint + "; nothing was written", .protocolError)
    }
}
