internal import Glibc

/// A process that holds a resource that this process needs, such as a serial port. This type examines a process with a
/// known ID; ``FileLockHolder`` is the result of a search for such processes.
package struct HoldingProcess {
    private let processID: Int32

    /// Creates a description of the process with this ID.
    package init(_ processID: Int32) { self.processID = processID }

    /// The kinds of processes, which determine how a person can get the resource.
    package enum Kind: Sendable, Hashable {
        /// This process itself.
        case own
        /// The process has ended.
        case gone
        /// The process belongs to another user; the name is nil if the system hides it.
        case foreign(user: String?)
        /// The process was stopped, as by Ctrl-Z. If it runs this program, it must not be ended, since it may have a
        /// device to switch off.
        case stopped(isThisProgram: Bool)
        /// The process started this process, directly or indirectly: a shell, a script, a terminal program.
        case ancestor
        /// Another run of this program. It must not be killed, since it may be switching off a device.
        case sameProgram
        /// Any other program of this user.
        case other
    }

    /// The kind of the described process.
    package var kind: Kind {
        if processID == getpid() { return .own }
        guard let user else { return isHidden ? .foreign(user: nil) : .gone }
        if user != geteuid() { return .foreign(user: Self.name(of: user)) }
        if isStopped { return .stopped(isThisProgram: isThisProgram) }
        if isAncestor { return .ancestor }
        return isThisProgram ? .sameProgram : .other
    }

    /// Whether the process was stopped, as by Ctrl-Z. A stopped process reacts only to SIGCONT and SIGKILL.
    package var isStopped: Bool { ["T", "t"].contains(status.prefix(1)) }

    /// Whether the process exists.
    package var isThere: Bool { user != nil || isHidden }

    /// Whether the process exists and belongs to the user of this process.
    package var isOurs: Bool { user == geteuid() }

    /// Whether the process runs this program, or one of the same name, such as another version.
    package var isThisProgram: Bool {
        var (other, own) = (stat(), stat())
        if stat("/proc/self/exe", &own) == 0, stat("/proc/\(processID)/exe", &other) == 0,
            other.st_dev == own.st_dev, other.st_ino == own.st_ino
        {
            return true
        }
        guard let command = TextFile.contents(of: "/proc/\(processID)/comm") else { return false }
        return command == TextFile.contents(of: "/proc/self/comm")
    }

    /// An instruction for a person who wants the resource that the process holds.
    package var endingHint: String { Self.endingHint([processID]) }

    /// An instruction for a person who finds the process stopped.
    package var resumingHint: String {
        if case .foreign(let user?) = kind { return "ask \(user), who runs it, to resume it" }
        return "resume it: kill -CONT \(processID)"
    }

    /// Returns an instruction for a person who wants a resource that some processes hold.
    ///
    /// - Parameters:
    ///   - processes: The IDs of the processes.
    ///   - kind: Returns the kind of a process.
    package static func endingHint(_ processes: [Int32], kind: (Int32) -> Kind = { HoldingProcess($0).kind }) -> String
    {
        let isAlone = processes.count == 1
        let killed = processes.filter { kind($0) == .other }
        let list = killed.map { "\($0)" }.joined(separator: " ")
        let those = isAlone ? "it" : killed.count == 1 ? list : "them"
        let killing = killed.isEmpty ? [] : ["end \(those) first: kill \(list)"]
        let others = processes.compactMap { process in kind(process).hint(process, isAlone: isAlone) }
        return (killing + others).joined(separator: "; ")
    }

    /// The fields of /proc/PID/stat from the state on; empty if the file can't be read.
    private var status: Substring {
        guard let status = TextFile.contents(of: "/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return ""
        }
        return status[name...].dropFirst(2)
    }

    private var isAncestor: Bool {
        var ancestor = getppid()
        while ancestor > 0 {
            if ancestor == processID { return true }
            let fields = HoldingProcess(ancestor).status.split(separator: " ")
            ancestor = fields.count > 1 ? Int32(fields[1]) ?? 0 : 0
        }
        return false
    }

    private var user: uid_t? {
        var status = stat()
        return stat("/proc/\(processID)", &status) == 0 ? status.st_uid : nil
    }

    /// Whether the process exists and is not visible, as with the option `hidepid` of /proc.
    private var isHidden: Bool { user == nil && (kill(processID, 0) == 0 || errno == EPERM) }

    /// Returns the name of a user; the word `user` and the user ID if there is no name.
    package static func name(of user: UInt32) -> String {
        // A buffer for all texts of an entry. If it is too small, getpwuid_r(3) fails, and the user has no name here.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let space = buffer.baseAddress, getpwuid_r(user, &entry, space, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return "user \(user)" }
            return String(cString: name)
        }
    }
}

extension HoldingProcess.Kind {
    /// Returns the hint for one process; nil for `other`, since one `kill` command lists all processes of that kind.
    ///
    /// - Parameters:
    ///   - process: The ID of the process.
    ///   - isAlone: Whether the hint concerns only this process, so that the ID can be left out.
    fileprivate func hint(_ process: Int32, isAlone: Bool) -> String? {
        let it = isAlone ? "it" : "\(process)"
        return switch self {
        case .own: "close it in this program first"
        case .gone: "try again: \(it) has ended"
        case .foreign(let user?): "ask \(user), who runs \(it), to end it"
        case .foreign(nil): "find out who runs \(it), and ask that user to end it: sudo ps -fp \(process)"
        case .stopped(let isThisProgram): "resume \(it): kill -CONT \(process)" + (isThisProgram ? "" : "; then end it")
        case .ancestor: "close it in \(isAlone ? "that program" : it) first, which started this command"
        case .sameProgram: "wait until \(isAlone ? "that program" : it) ends, or end it where it was started"
        case .other: nil
        }
    }
}
