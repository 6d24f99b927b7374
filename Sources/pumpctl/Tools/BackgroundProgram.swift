import Glibc

/// This program once more, in a session of its own, which goes on when this one has ended.
///
/// It is started anew rather than forked: a copy of a process has one of its threads.
enum BackgroundProgram {
    /// What the other one finds in its environment.
    private static let mark = "PUMPCTL_IN_BACKGROUND"

    /// POSIX_SPAWN_SETSID, which glibc hides from Swift.
    private static let newSession: CShort = 0x80

    /// Whether a command is to be run by the other one: it asks for that, and this is not it.
    static func isWanted(_ command: any BackgroundCommand) -> Bool {
        command.serving.isInBackground && getenv(mark) == nil
    }

    /// Runs the program in the background until it has said where its device is.
    ///
    /// - Returns: The status to exit with: 0 once it has, or what it ended with before.
    static func start(_ arguments: [String], _ output: Output) throws(Failure) -> Int32 {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(background: errno) }
        defer { close(ends[0]) }
        let process = try spawn(arguments, output: ends[1])
        close(ends[1])
        guard let line = firstLine(from: ends[0]) else {
            var status: CInt = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
        }
        if output.isJSON {
            output.draw(line + "\n")
        } else {
            // What a script keeps is the process: pid=$(pumpctl sim pump --background).
            output.note("pumpctl: \(line)")
            output.text("\(process)")
        }
        return 0
    }

    private static func spawn(_ arguments: [String], output: CInt) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The terminal's Ctrl-C and its end are not for it.
        posix_spawnattr_setflags(&attributes, newSession)
        setenv(mark, "1", 1)
        defer { unsetenv(mark) }
        let words = (["pumpctl"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, words, environ)
        guard error == 0 else { throw Failure(background: error) }
        return process
    }

    /// The first line that comes; nil where the writer has gone before.
    private static func firstLine(from descriptor: CInt) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }

    /// In the other one, whose device is there: lets go of the streams, which whoever started it may wait to be closed.
    static func release() {
        guard getenv(mark) != nil else { return }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0 else { return }
        for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(nothing, stream) }
        close(nothing)
    }
}

/// A command that can go on in the background.
protocol BackgroundCommand {
    var serving: ServingOptions { get }
}

extension SimPumpCommand: BackgroundCommand {}
extension SimStormCommand: BackgroundCommand {}
extension SimLEDCommand: BackgroundCommand {}
extension SimPeerCommand: BackgroundCommand {}
extension SimRescueCommand: BackgroundCommand {}

extension Failure {
    fileprivate init(background errno: CInt) {
        self.init(
            .ioError, code: "system", "can't start in the background: \(String(cString: strerror(errno)))",
            hint: "close programs you do not need, or omit --background")
    }
}
