import Glibc

/// Another program, which tells by a line that it is ready and ends when it is sent one.
final class ChildProcess {
    let processID: pid_t
    private let socket: CInt

    struct NotStarted: Error { var errno: Int32 }

    /// Runs a command found on PATH, with both its standard streams on one socket.
    init(_ arguments: String...) throws {
        var ends: [CInt] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NotStarted(errno: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words = arguments.map { strdup($0) } + [nil]
        var child: pid_t = 0
        let error = posix_spawnp(&child, arguments[0], &actions, nil, words, environ)
        words.forEach { free($0) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        socket = ends[0]
        processID = child
        if error != 0 { throw NotStarted(errno: error) }
    }

    deinit {
        _ = write(socket, "\n", 1)
        close(socket)
        waitpid(processID, nil, 0)
    }

    /// Waits for a line of output; nil when the child ended first.
    func line() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(socket, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}
