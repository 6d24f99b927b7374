import DeviceKit
import DeviceTestKit
import Foundation
import LineProtocol
import TestSupport
import Testing

@Suite("Log downloads to a file", .timeLimit(.minutes(5)))
struct LogDownloadTests {
    private let folder = TemporaryFolder()
    private let clock = ManualClock()
    private let link = ScriptedLink()
    private var path: String { folder.path("storm.log") }

    /// Writes an old file, starts a download that replaces it, and waits until the download has sent GET_LOG.
    private func asked() async throws -> Task<LogDownload.Report, any Error> {
        try "old\n".write(toFile: path, atomically: true, encoding: .utf8)
        let download = LogDownload(
            over: link, to: try ReplacedFile(path: path), clock: clock, timeout: .seconds(3), quiet: .seconds(2))
        let task = Task<LogDownload.Report, any Error> { try await download.run() }
        // The sensor must be silent for 100 ms first.
        await pass(to: .milliseconds(100))
        #expect(await link.nextSent() == "GET_LOG\n")
        return task
    }

    /// Waits until the download sleeps until `deadline`, and advances the clock to that time.
    private func pass(to deadline: Duration) async {
        await clock.untilSomebodySleeps(until: deadline)
        clock.advance(by: deadline - clock.now.offset)
    }

    private func content(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("A complete log replaces the file")
    func whole() async throws {
        let task = try await asked()
        await link.deliver("LOG Values: 1 2 3 4\nLIVE LOG: 1 2 3 0\r\n5 6 7 8\n")
        await pass(to: .milliseconds(2100))
        let report = try await task.value
        #expect(report.byteCount == 16)
        #expect(report.liveRowCount == 1)
        #expect(report.addedLineEndCount == 0)
        #expect(content(path) == "1 2 3 4\n5 6 7 8\n")
        #expect(content(path + ".partial") == nil)
        #expect(link.closeCount == 1)
    }

    @Test("A log without an announcement may be one row without a line end")
    func oneRow() async throws {
        let task = try await asked()
        await link.deliver("1 2 3 4")
        await pass(to: .milliseconds(2100))
        #expect(try await task.value.byteCount == 7)
        #expect(content(path) == "1 2 3 4")
    }

    @Test("An interrupted log is kept beside the unchanged file")
    func cutOff() async throws {
        let task = try await asked()
        await link.deliver("LOG Values: 1 2 3 4\n")
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        let error = await #expect(throws: LogDownloadError.self) { try await task.value }
        guard case .download(.session(let session)) = error?.cause else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(session.link == gone)
        #expect(error?.byteCount == 8)
        #expect(error?.place == path + ".partial")
        #expect(content(path + ".partial") == "1 2 3 4\n")
        #expect(content(path) == "old\n")
        #expect(link.closeCount == 1)
    }

    @Test("A silent sensor leaves no file behind")
    func silence() async throws {
        let task = try await asked()
        await pass(to: .milliseconds(3100))
        let error = await #expect(throws: LogDownloadError.self) { try await task.value }
        #expect(error?.byteCount == 0)
        #expect(content(path + ".partial") == nil)
        #expect(content(path) == "old\n")
    }

    @Test("A file that cannot be written fails before the query, and a full disk during the download")
    func disk() async throws {
        let error = #expect(throws: FileError.self) { try ReplacedFile(path: folder.path("no/such/folder")) }
        #expect(error?.errno == ENOENT)
        let download = LogDownload(
            over: link, to: try ReplacedFile(path: "/dev/full"), clock: clock, timeout: .seconds(3), quiet: .seconds(2))
        let task = Task<LogDownload.Report, any Error> { try await download.run() }
        await pass(to: .milliseconds(100))
        #expect(await link.nextSent() == "GET_LOG\n")
        await link.deliver("LOG Values: 1 2 3 4\n")
        let full = await #expect(throws: LogDownloadError.self) { try await task.value }
        #expect(full?.cause == .file(FileError(path: "/dev/full", errno: ENOSPC)))
    }
}
