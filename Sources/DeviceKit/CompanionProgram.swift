internal import Glibc
public import RecordFormat

/// A program that is installed with the one that runs, and is started only where it is needed: what it is linked with costs
/// nothing otherwise. `pumpctl-record` keeps the record by SQLite; `pumpctl-scenario` reads TOML.
public struct CompanionProgram: Sendable {
    /// Where it is.
    public let path: String

    /// The program at `path`.
    public init(path: String) { self.path = path }

    /// One that is installed with the program that runs: beside it, as it was built, or in `../libexec/pumpctl`.
    ///
    /// - Throws: `not_installed` where there is none.
    public static func installed(_ name: String) throws(Trouble) -> CompanionProgram {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let program = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let paths = ["\(folder)/\(name)", "\(folder)/../libexec/pumpctl/\(name)"]
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw Trouble(
                code: "not_installed", text: "\(name) is not installed",
                hint: "install it beside pumpctl: make install")
        }
        return CompanionProgram(path: path)
    }

    /// The program that is given to keep the record, or else the one that is installed.
    static func recorder(_ program: CompanionProgram?) throws(Trouble) -> CompanionProgram {
        if let program { return program }
        return try installed("pumpctl-record")
    }

    /// Runs it, and waits until it has ended.
    ///
    /// - Returns: What it wrote to its standard output, and its exit status.
    /// - Throws: `system` where it can't be started.
    public func run(_ arguments: [String]) throws(Trouble) -> (output: [UInt8], status: CInt) {
        let (process, socket) = try start(arguments)
        defer { close(socket) }
        shutdown(socket, CInt(SHUT_WR))
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (output, Self.status(of: process)) }
            output += chunk[..<count]
        }
    }

    /// Starts it, its standard input and output at the other end of the socket that is returned.
    func start(_ arguments: [String]) throws(Trouble) -> (process: pid_t, socket: CInt) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Trouble(path, errno: errno) }
        defer { close(ends[1]) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream in [STDIN_FILENO, STDOUT_FILENO] { posix_spawn_file_actions_adddup2(&actions, ends[1], stream) }
        // A program that reads its signals from a descriptor has them blocked: the other one must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETSIGMASK))

        let words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, path, &actions, &attributes, words, environ)
        guard error == 0 else {
            close(ends[0])
            throw Trouble(path, errno: error)
        }
        return (process, ends[0])
    }

    /// The status with which it has ended.
    static func status(of process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }
}

extension Trouble {
    /// The program could not be started.
    fileprivate init(_ path: String, errno: CInt) {
        self.init(
            code: "system", text: "can't start \(path): \(String(cString: strerror(errno)))",
            hint: "close programs you do not need, or reinstall pumpctl")
    }
}
