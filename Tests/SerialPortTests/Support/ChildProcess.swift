import Glibc

/// Another program, which tells by a line that it is ready and ends when it is sent one, or by SIGTERM.
final class ChildProcess {
    let processID: pid_t
    private let socket: CInt
    private let endsBySignal: Bool
    private var hasEnded = false

    struct NotStarted: Error { var errno: Int32 }

    /// Runs a command found on PATH, with both its standard streams on one socket.
    convenience init(_ arguments: String...) throws {
        try self.init(arguments, environment: [:])
    }

    /// - Parameters:
    ///   - environment: What is added to this process's own.
    ///   - endsBySignal: Whether it takes SIGTERM to end it.
    init(_ arguments: [String], environment: [String: String], endsBySignal: Bool = false) throws {
        var ends: [CInt] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NotStarted(errno: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        var inherited: [UnsafeMutablePointer<CChar>?] = []
        while let variable = environ[inherited.count] { inherited.append(variable) }
        var child: pid_t = 0
        let error = posix_spawnp(&child, arguments[0], &actions, nil, words, variables + inherited + [nil])
        (words + variables).forEach { free($0) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        // Before all is initialized: what is not there is not ended by deinit, which would take 0 for all of the tests.
        guard error == 0 else {
            close(ends[0])
            throw NotStarted(errno: error)
        }
        socket = ends[0]
        processID = child
        self.endsBySignal = endsBySignal
    }

    deinit {
        send("")
        close(socket)
        if !hasEnded {
            if endsBySignal { kill(processID, SIGTERM) }
            waitpid(processID, nil, 0)
        }
    }

    /// Sends a line.
    func send(_ line: String) {
        let bytes = Array(line.utf8) + [0x0A]
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Asks the child to end, by SIGTERM, and gives its exit status once it has; nil where a signal ended it.
    func end() -> Int32? {
        kill(processID, SIGTERM)
        return wait()
    }

    /// Waits until the child has ended, and gives its exit status; nil where a signal ended it.
    func wait() -> Int32? {
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        hasEnded = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Waits for the rest of the output.
    func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Waits for a line of output, a minute at most; nil when the child ended first.
    func line() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 60_000) == 1, read(socket, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
