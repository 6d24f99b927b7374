internal import DescriptorIO
internal import Glibc
internal import NIOHTTP1
internal import Synchronization

/// A run of pumpctl that tries a device: its firmware, or its round trips.
final class Trial: Sendable {
    /// The descriptor from which the output is read. The reader closes it.
    let output: CInt
    /// The process; nil once it is being reaped, when its number may belong to another.
    private let process: Mutex<Int32?>

    /// Starts pumpctl. Its standard error is discarded: the output has the errors too.
    ///
    /// - Parameters:
    ///   - program: The path of pumpctl.
    ///   - arguments: The arguments, without the name of the program.
    ///   - socket: The path of the socket of pumpctld.
    /// - Throws: ``Problem`` with the code `failed`.
    init(_ program: String, _ arguments: [String], socket: String) throws(Problem) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Self.problem(errno) }
        defer { close(ends[1]) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        var start = ProgramStart(program, ["pumpctl"] + arguments)
        start.variables = ["PUMPCTLD_SOCKET": socket]
        start.descriptors = [STDIN_FILENO: nothing, STDOUT_FILENO: ends[1], STDERR_FILENO: nothing]
        // A Ctrl-C at this server ends it, which interrupts pumpctl; twice would end pumpctl before the pump is off.
        start.hasOwnSession = true
        do throws(DescriptorError) {
            process = Mutex(try start.start())
            output = ends[0]
        } catch {
            close(ends[0])
            throw Self.problem(error.errno ?? EIO)
        }
    }

    private static func problem(_ number: CInt) -> Problem {
        Problem(
            .serviceUnavailable, "failed", "can't start pumpctl: \(String(cString: strerror(number)))",
            hint: "close programs you do not need, or reinstall pumpctl", outcome: "not_sent")
    }

    /// Interrupts the run. pumpctl then switches a pump off, and ends.
    func interrupt() {
        process.withLock { if let process = $0 { _ = kill(process, SIGINT) } }
    }

    /// Waits until the process has ended, and returns its exit status, or 128 plus the number of the signal that ended
    /// it. Blocks the thread. Call it once, behind the end of the output.
    func status() -> Int32 {
        let process = process.withLock { process in
            defer { process = nil }
            return process
        }
        return process.map(ProcessEnd.reap) ?? 0
    }
}
