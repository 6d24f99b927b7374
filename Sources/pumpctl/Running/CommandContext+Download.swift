import DeviceKit
import LineProtocol
import Terminal

extension CommandContext {
    /// Has `fetch` download something into a file, and tells what has come. The file is opened first: no device is asked for
    /// what can't be written.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `-` for standard output.
    ///   - fetch: Downloads, shows on the bar how much has come, and returns how many bytes it was, and what else programs are
    ///     told of it.
    func download(
        to path: String?,
        _ fetch: (any Link, ReplacedFile, ProgressBar) async throws -> (byteCount: Int, values: [String: StateValue])
    ) async throws {
        let target = try ReplacedFile(path: path)
        let link: any Link
        do { link = try await openLink() } catch {
            target.discard()
            throw error
        }
        let bar = ProgressBar(clock: clock, isWanted: !target.file.isTerminal && !output.isJSON)
        let (byteCount, values) = try await fetch(link, target, bar)
        guard let path = target.path else { return }
        output.outcome(
            "\(byteCount.counted("byte")) in \(path)",
            values.merging(["ok": .boolean(true), "file": .text(path), "bytes": .integer(byteCount)]) { $1 })
    }
}

extension Failure {
    /// Something is missing from what was downloaded.
    init(incomplete code: String, _ message: String, hint: String, _ status: ExitStatus = .ioError) {
        self.init(status, code: code, message, hint: hint, outcome: "incomplete")
    }
}
