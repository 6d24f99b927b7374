internal import CDescriptorIO
internal import Glibc

/// The parameters for starting another program in a process of its own.
///
/// This program may block signals to handle them on a thread of their own, ignore SIGPIPE because it writes to sockets,
/// and raise its limit of descriptors. The other program inherits none of these changes.
package struct ProgramStart: Sendable {
    /// POSIX_SPAWN_SETSID, which Swift's Glibc module lacks.
    private static let newSession: CShort = 0x80

    /// The path of the program, or a name to look for on PATH.
    package var program: String
    /// The arguments, beginning with the name of the program.
    package var arguments: [String]
    /// Environment variables that the other program gets in addition to, or in place of, those of this program.
    package var variables: [String: String] = [:]
    /// The other program's descriptors, and this program's descriptors that they duplicate. Standard streams that are
    /// not listed are inherited.
    package var descriptors: KeyValuePairs<Int32, Int32> = [:]
    /// Whether the program gets a process session of its own (setsid), so that the terminal's Ctrl-C and hang-up do not
    /// reach it.
    package var hasOwnSession = false

    /// Whether the program inherits only the listed descriptors and the standard streams.
    package var closesOthers = false

    package init(_ program: String, _ arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// Starts the program.
    ///
    /// - Returns: The process ID.
    /// - Throws: `system` if the program does not exist or can't be executed, or no process can be started.
    package func start() throws(DescriptorError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, own) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, number) }
        if closesOthers {
            let first = (descriptors.map(\.key).max() ?? 0) + 1
            cdescriptorio_add_close_from(&actions, max(first, STDERR_FILENO + 1))
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = CShort(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, flags | (hasOwnSession ? Self.newSession : 0))

        let words = arguments.map { strdup($0) } + [nil]
        let variables = variables.map { strdup("\($0)=\($1)") }
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        cdescriptorio_keep_children()
        let error = DescriptorLimit.withOriginal {
            posix_spawnp(&process, program, &actions, &attributes, words, variables + inherited + [nil])
        }
        guard error == 0 else { throw DescriptorError(errno: error, call: "posix_spawn") }
        return process
    }

    /// Continues in a child process if this process is process 1 of a container. Process 1 then only reaps the orphans
    /// of the container, passes signals on to the child, and ends with the child. Call this before starting threads.
    package static func leaveInit() { cdescriptorio_leave_init() }

    /// The environment variables of this program that the other one inherits.
    private var inherited: [UnsafeMutablePointer<CChar>?] {
        var inherited: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let variable = next.pointee {
            if !variables.keys.contains(where: { strncmp(variable, "\($0)=", $0.utf8.count + 1) == 0 }) {
                inherited.append(variable)
            }
            next += 1
        }
        return inherited
    }
}
