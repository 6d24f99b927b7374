import Glibc

/// A firmware on an emulated Nano whose time the host controls: `nano-sim --stepped`.
///
/// All methods block the thread while the board runs, so use a board on a separate thread.
final class SteppedBoard {
    /// nano-sim could not be started.
    struct NotStarted: Error { var errno: CInt }
    /// nano-sim has refused a line, or `run` has an unexpected answer; if `answer` is nil, nano-sim has ended.
    struct Refused: Error { var line: String, answer: String? }

    /// The time for which ``run(until:)`` has run the board.
    private(set) var now = Duration.zero
    /// Whether a verb that takes time, such as `press`, may still be in progress.
    private(set) var isBusy = false

    private let process: pid_t
    private let socket: CInt
    private let stream: UnsafeMutablePointer<FILE>

    /// Starts nano-sim with its default inputs: working thermistors, and a button that is not pressed.
    ///
    /// - Parameter firmware: The path of an ELF file.
    init(firmware: String) throws {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NotStarted(errno: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream in [STDIN_FILENO, STDOUT_FILENO] { posix_spawn_file_actions_adddup2(&actions, ends[1], stream) }
        let arguments = [FirmwareBuild.nanoSim, "--stepped", firmware]
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, FirmwareBuild.nanoSim, &actions, nil, words, environ)
        close(ends[1])
        guard error == 0, let stream = fdopen(ends[0], "r") else {
            close(ends[0])
            throw NotStarted(errno: error)
        }
        (process, socket, self.stream) = (child, ends[0], stream)
    }

    deinit {
        kill(process, SIGKILL)
        fclose(stream)
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    }

    /// Runs the board up to a time, or until its output begins or ends a line, whichever is earlier.
    ///
    /// The board may run about a millisecond further, until its sleeping processor wakes.
    ///
    /// - Returns: The board's output since the previous call.
    func run(until time: Duration) throws -> [UInt8] {
        let rest = max(time - now, .zero).components
        let line = "run \(rest.seconds * 1_000_000 + rest.attoseconds / 1_000_000_000_000)"
        let words = try ask(line).split(separator: " ")
        guard words.count == 3, let microseconds = Int(words[0]) else { throw Refused(line: line, answer: "\(words)") }
        now = .microseconds(microseconds)
        isBusy = words[1] != "0"
        return words[2] == "-" ? [] : Self.bytes(hexadecimal: words[2])
    }

    /// Sends bytes to the board.
    func send(_ bytes: [UInt8]) throws {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        if !digits.isEmpty { _ = try ask("send " + digits) }
    }

    /// Performs or begins a verb; returns the reply after the `ok`.
    @discardableResult
    func perform(_ verb: String, _ arguments: [String] = []) throws -> String {
        // Only the next run shows whether the verb takes time.
        defer { isBusy = true }
        return String(try ask(([verb] + arguments).joined(separator: " ")))
    }

    private static func bytes(hexadecimal digits: Substring) -> [UInt8] {
        let values = digits.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// Sends a line to nano-sim; returns the reply after the `ok`.
    private func ask(_ line: String) throws -> Substring {
        let bytes = Array((line + "\n").utf8)
        guard Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
            throw Refused(line: line, answer: nil)
        }
        var text: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(text) }
        let count = getline(&text, &size, stream)
        guard count > 0, let text else { throw Refused(line: line, answer: nil) }
        let answer = String(decoding: UnsafeRawBufferPointer(start: text, count: count - 1), as: UTF8.self)
        guard answer == "ok" || answer.hasPrefix("ok ") else { throw Refused(line: line, answer: answer) }
        return answer.dropFirst("ok ".count)
    }
}
