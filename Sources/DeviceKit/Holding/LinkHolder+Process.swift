internal import DescriptorIO
internal import Glibc
internal import LineProtocol

extension LinkHolder {
    /// Whether it is this program, as another process. Another user's program can't be looked at: its name has to do.
    var isThisProgram: Bool { process.isThisProgram || command == Self.ownCommand }

    /// Whether it is another run of this program, by the same user, that was not stopped.
    var isAnotherRun: Bool { processID != getpid() && isThisProgram && process.isOurs && !process.isStopped }

    /// Whether the programs of all users are seen, and not only this user's.
    static var areAllSeen: Bool { geteuid() == 0 }

    /// The process.
    var process: HoldingProcess { HoldingProcess(processID) }

    private static var ownCommand: String? {
        TextFile.contents(of: "/proc/self/comm").map { String($0.prefix { $0 != "\n" }) }
    }
}
