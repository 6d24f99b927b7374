import DescriptorIO
import Glibc

/// A request of a shell for the words that may stand at its cursor, as the scripts of ``CompletionScript`` send it:
///
///     pumpctl ---complete LIMIT SHELL LINE [TAIL]
///
/// LIMIT is the longest run time, such as `45ms`. LINE is the command as typed, up to the cursor. TAIL is the part of
/// the word that bash replaces. The answer is one ``Candidate`` a line, in the form that the script of the shell
/// expects. Errors are not reported: a person who types can't do anything about them.
struct CompletionRequest {
    private let limit: Duration
    private let shell: CompletingShell
    private let line: TypedLine
    private let tail: String

    /// Parses the arguments of the program; nil if they are no request.
    init?(_ arguments: [String]) {
        guard arguments.count >= 4, arguments[0] == "---complete", let limit = SecondsArgument(argument: arguments[1]),
            let shell = CompletingShell(rawValue: arguments[2])
        else { return nil }
        (self.limit, self.shell) = (limit.duration, shell)
        line = TypedLine(arguments[3], in: shell)
        tail = arguments.count > 4 ? arguments[4] : ""
    }

    /// Prints the answer, and ends the program.
    func answer() -> Never {
        endInTime()
        let line = line
        // Another program, such as bluetoothd, gets half of the time, so that an answer without it is in time.
        let wait = limit / 2
        let found = EventLoop.run { loop in
            guard !line.words.isEmpty else { return [Candidate]() }
            let completion = LineCompletion(surroundings: .here(wait, on: loop))
            return await completion.candidates(behind: Array(line.words.dropFirst()), line.current)
        }
        let bytes = Array(found.answer(to: shell, line, replacing: tail).utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
        _exit(0)
    }

    /// Ends the program without an answer if the time is up, even if it waits for a file system that does not respond.
    private func endInTime() {
        signal(SIGALRM) { _ in _exit(0) }
        let time = limit.components
        var timer = itimerval()
        timer.it_value = timeval(
            tv_sec: Int(time.seconds), tv_usec: Int(time.attoseconds / 1_000_000_000_000))
        setitimer(Int32(bitPattern: ITIMER_REAL.rawValue), &timer, nil)
    }
}
