internal import DescriptorIO
internal import Glibc
internal import LineProtocol

extension LinkHolder {
    /// Whether the holder runs this program. Another user's executable can't be inspected, so an equal command name is
    /// enough: the present name, or the one that the holder had when it was found, since it may have ended.
    var isThisProgram: Bool { process.isThisProgram || command == Self.ownCommand }

    /// Whether the holder is another run of this program, by the same user, and not stopped.
    var isAnotherRun: Bool { processID != getpid() && isThisProgram && process.isOurs && !process.isStopped }

    /// Whether this process can see which files the programs of all users have open, and not only this user's.
    static var areAllSeen: Bool { geteuid() == 0 }

    /// The holder's process.
    var process: HoldingProcess { HoldingProcess(processID) }

    private static var ownCommand: String? {
        TextFile.contents(of: "/proc/self/comm").map { String($0.prefix { $0 != "\n" }) }
    }
}
