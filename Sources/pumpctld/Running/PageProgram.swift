import DescriptorIO
import DeviceKit
import Glibc
import LineProtocol
import Logging
import RecordFormat
import Synchronization

/// Keeps `pumpctl-page`, which serves the devices to browsers, running as a child process.
///
/// No device depends on the child: it is a client of the daemon's socket, like other programs. The child's standard
/// input ends with this process, so that the child can notice that this process was killed.
struct PageProgram: Sendable {
    /// The signals that end the child, and the time to wait after each.
    private static let endings = [(SIGTERM, Duration.seconds(3)), (SIGKILL, .seconds(1))]
    /// The first and the longest pause before a restart. Each pause is twice as long as the one before. After a run
    /// that has lasted as long as the longest pause, the pauses start over.
    private static let (firstPause, longestPause) = (Duration.seconds(1), Duration.seconds(60))
    /// The maximum length in bytes of a line that is logged as one entry.
    private static let lineLimit = 1000

    let program: CompanionProgram
    let arguments: [String]
    let loop: EventLoop
    let log: Logger
    let clock: any Clock<Duration>

    init(
        _ program: CompanionProgram, _ arguments: [String], on loop: EventLoop, log: Logger,
        clock: (any Clock<Duration>)? = nil
    ) {
        (self.program, self.arguments, self.loop, self.log) = (program, arguments, loop, log)
        self.clock = clock ?? EventLoopClock(loop)
    }

    /// Runs the child, and starts it again after its end, until the task is cancelled or the child fails in a way that
    /// a restart does not change. On cancellation, ends the child, which takes a few seconds at most.
    func run() async {
        let time = SessionClock(self.clock)
        var pause = Self.firstPause
        while !Task.isCancelled {
            let start = time.elapsed()
            let reason: LogEntry
            do throws(Trouble) {
                let end = try await runOnce()
                if Task.isCancelled { return }
                if let entry = end.lasting { return log.log(entry) }
                reason = LogEntry(.warning, "the page has ended; starting it again", end.values)
            } catch {
                // Give up if the program is not executable. Other failures pass, such as a lack of descriptors.
                guard access(program.path, X_OK) == 0 else { return log.log(LogEntry(notServed: error)) }
                reason = LogEntry(.warning, "can't start the page; retrying", ["reason": error.text])
            }
            log.log(reason)
            if time.elapsed() - start >= Self.longestPause { pause = Self.firstPause }
            do { try await time.sleep(time.elapsed() + pause) } catch { return }
            pause = min(pause + pause, Self.longestPause)
        }
    }

    // MARK: One run

    /// The end of a child.
    private struct End {
        /// The exit status, or 128 plus the signal's number; nil if the child does not end.
        var status: Int32?
        /// The last message of the child.
        var message: String?

        /// The values of the log entry.
        var values: KeyValuePairs<String, String?> { ["status": status.map { "\($0)" }, "reason": message] }

        /// The entry for the log if the child ends in the same way each time; nil if it may run later.
        var lasting: LogEntry? {
            let hint: String? =
                // The exit statuses of `pumpctl-page`: EX_USAGE, EX_NOPERM and EX_CONFIG of sysexits.h.
                switch status {
                case 64: "correct [http] in the configuration, or --http"
                case 77: "give this user access to the address, and to the folder of the sessions"
                case 78: "let only this user read and write the file of the sessions: chmod 600"
                default: nil
                }
            guard let hint else { return nil }
            return LogEntry(
                .error, "the page is not served; the devices are",
                ["status": status.map { "\($0)" }, "reason": message, "hint": hint])
        }
    }

    /// Starts the child, logs its output, and waits for its end. If the task is cancelled, ends the child.
    ///
    /// - Throws: `Trouble` if the child can't be started.
    private func runOnce() async throws(Trouble) -> End {
        let (process, socket) = try program.start(arguments, isServer: true)
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        let channel = DescriptorChannel(taking: socket, kind: .socket, on: loop)
        let output = Task(executorPreference: loop) { await logOutput(of: channel) }
        let status = await end(of: process)
        // Don't wait for the end of the output: a child of the child may have inherited the output, and keep it open.
        output.cancel()
        let message = await output.value
        await channel.close()
        return End(status: status, message: message)
    }

    /// Logs the lines of the child's output until its end, or the task's cancellation. Returns the last line that is
    /// not indented: the child's messages, unlike its hints, begin at the first column.
    private func logOutput(of channel: DescriptorChannel) async -> String? {
        var framer = LineFramer(limit: Self.lineLimit)
        var message: String?
        func log(_ bytes: [UInt8]) {
            framer.append(bytes.span) { line, _ in
                let text = line.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                if text.isEmpty { return }
                if !text.hasPrefix(" ") { message = text }
                self.log.log(LogEntry(.info, "pumpctl-page", ["line": text]))
            }
        }
        while let bytes = try? await channel.read() { log(bytes) }
        // After a cancellation, log the rest. The number of reads is bounded, since a child of the child may go on
        // writing.
        for _ in 0..<16 {
            guard let bytes = try? await channel.readAvailable(), !bytes.isEmpty else { break }
            log(bytes)
        }
        log([UInt8(ascii: "\n")])
        return message
    }

    /// Waits for the end of the child, and ends the child if the task is cancelled. Returns the exit status; nil if
    /// the child does not end.
    private func end(of process: Int32) async -> Int32? {
        if let status = try? await ProcessEnd.status(of: process, on: loop) { return status }
        for (signal, patience) in Self.endings {
            kill(process, signal)
            if let status = await status(of: process, within: patience) { return status }
        }
        log.warning("pumpctl-page does not end", metadata: ["process": "\(process)"])
        return nil
    }

    /// Waits for the end of the child. Returns nil if the child runs longer than `patience`.
    private func status(of process: Int32, within patience: Duration) async -> Int32? {
        // Use a task of its own, since this one may be cancelled.
        await Task(executorPreference: loop) { [clock, loop] in
            let status = Mutex<Int32?>(nil)
            _ = await withTimeLimit(patience, clock: clock, on: loop) {
                let ended = try await ProcessEnd.status(of: process, on: loop)
                status.withLock { $0 = ended }
            }
            return status.withLock(\.self)
        }.value
    }
}

extension LogEntry {
    /// The entry for a page that can't be served.
    init(notServed trouble: Trouble) {
        self.init(
            .error, "the page is not served; the devices are", ["reason": trouble.text, "hint": trouble.hint])
    }
}
