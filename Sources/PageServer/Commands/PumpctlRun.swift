internal import DescriptorIO
internal import Glibc
internal import NIOHTTP1
internal import Synchronization

/// A run of pumpctl that this server has started: the trial of a device (`verify`, `latency`), or a peer.
final class PumpctlRun: Sendable {
    private struct State {
        /// The process; nil before the start, and once it is being reaped, when its number may belong to another.
        var process: Int32?
        var isInterrupted = false
    }

    private let state = Mutex(State())

    /// Starts pumpctl, unless the run was interrupted. Blocks the thread until the system has found the program. The
    /// standard error of pumpctl, with its messages for people, is that of this server.
    ///
    /// - Parameters:
    ///   - program: The path of pumpctl.
    ///   - arguments: The arguments, without the name of the program.
    ///   - variables: The environment variables to add.
    ///   - hasInput: Whether pumpctl reads what is written to the returned descriptor.
    /// - Returns: The descriptor from which the output is read. The caller closes it.
    /// - Throws: ``Problem`` with the code `failed` if the system can't start pumpctl, `cancelled` if the run was
    ///   interrupted.
    func start(
        _ program: String, _ arguments: [String], variables: [String: String] = [:], hasInput: Bool = false
    ) throws(Problem) -> CInt {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Self.problem(errno) }
        defer { close(ends[1]) }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        var start = ProgramStart(program, ["pumpctl"] + arguments)
        start.variables = variables
        start.descriptors = [STDIN_FILENO: hasInput ? ends[1] : nothing, STDOUT_FILENO: ends[1]]
        // Otherwise pumpctl would keep this server's port and connections open after the server's end.
        start.closesOthers = true
        // A second signal would end pumpctl before a pump is off, so it gets one signal from this server, and none from
        // a terminal.
        start.hasOwnSession = true
        do throws(Problem) {
            try state.withLock { state throws(Problem) in
                guard !state.isInterrupted else { throw .askerLeft(outcome: "not_sent") }
                do throws(DescriptorError) { state.process = try start.start() } catch {
                    throw Self.problem(error.errno ?? EIO)
                }
            }
        } catch {
            close(ends[0])
            throw error
        }
        return ends[0]
    }

    private static func problem(_ number: CInt) -> Problem {
        Problem(
            .serviceUnavailable, "failed", "can't start pumpctl: \(String(cString: strerror(number)))",
            hint: "close programs you do not need, or reinstall pumpctl", outcome: "not_sent")
    }

    /// Interrupts pumpctl, which switches off a pump that it has tested, and ends. Only the first call counts.
    func interrupt() {
        state.withLock { state in
            if let process = state.process, !state.isInterrupted { _ = kill(process, SIGINT) }
            state.isInterrupted = true
        }
    }

    /// Waits until the process has ended, and returns its exit status, or 128 plus the number of the signal that ended
    /// it. Blocks the thread. Call it once, after the end of the output.
    func status() -> Int32 {
        let process = state.withLock { state in
            defer { state.process = nil }
            return state.process
        }
        return process.map(ProcessEnd.reap) ?? 0
    }
}
