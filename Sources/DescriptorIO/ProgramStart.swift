internal import CDescriptorIO
internal import Glibc

/// How another program is started in a process of its own.
///
/// A program that reads its signals from a descriptor has them blocked, and one that writes to sockets ignores SIGPIPE: the
/// other one inherits neither. Nor does it inherit a limit of descriptors that was raised.
package struct ProgramStart: Sendable {
    /// POSIX_SPAWN_SETSID, which glibc hides from Swift.
    private static let newSession: CShort = 0x80

    /// Its path, or a name that is looked for on PATH.
    package var program: String
    /// Its arguments, its own name first.
    package var arguments: [String]
    /// What it has in its environment beside, or in the place of, what this program has.
    package var variables: [String: String] = [:]
    /// Which of its descriptors are which of this program. It has the standard streams of this program otherwise.
    package var descriptors: KeyValuePairs<Int32, Int32> = [:]
    /// Whether the terminal's Ctrl-C and its end are not for it.
    package var hasOwnSession = false

    package init(_ program: String, _ arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// Starts the program.
    ///
    /// - Returns: The number of the process.
    /// - Throws: Where it is not there, can't be executed, or the system has no room for another process.
    package func start() throws(DescriptorError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, own) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, number) }

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
        let error = DescriptorLimit.withOriginal {
            posix_spawnp(&process, program, &actions, &attributes, words, variables + inherited + [nil])
        }
        guard error == 0 else { throw DescriptorError(errno: error, call: "posix_spawn") }
        return process
    }

    /// Goes on in a child process if this is process 1 of a container, which has to take the status of all orphans there. To be
    /// called before there are threads.
    package static func leaveInit() { cdescriptorio_leave_init() }

    /// What it has of the environment of this program.
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
