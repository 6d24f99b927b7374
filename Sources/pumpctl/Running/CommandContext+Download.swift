import DeviceKit
import LineProtocol
import Terminal

extension CommandContext {
    /// Downloads data into a file or to standard output. For a file, prints the number of bytes. The file is opened
    /// first, so that no device is asked for data that can't be stored.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `-` for standard output.
    ///   - fetch: Downloads the data into the file, closes the link, and shows progress on the bar. Returns the number
    ///     of bytes and further values for the record.
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
    /// Creates the failure for an incomplete download.
    init(incomplete code: String, _ message: String, hint: String, _ status: ExitStatus = .ioError) {
        self.init(status, code: code, message, hint: hint, outcome: "incomplete")
    }
}
