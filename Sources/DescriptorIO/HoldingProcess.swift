internal import Glibc

/// A process that has something which this one wants, such as a serial port.
package struct HoldingProcess {
    private let processID: Int32

    /// The process of that number.
    package init(_ processID: Int32) { self.processID = processID }

    /// The properties of a process that decide what a person can do to get what it has.
    package enum Kind: Sendable, Hashable {
        /// This process.
        case own
        /// It has ended.
        case gone
        /// It belongs to another user; the name is nil if the system hides it.
        case foreign(user: String?)
        /// It was stopped, as by Ctrl-Z; this program may have a device to switch off, and must not be ended.
        case stopped(isThisProgram: Bool)
        /// It has started this process, perhaps by way of others: a shell, a script, a terminal program.
        case ancestor
        /// Another run of this program. It may be switching a device off, and must not be killed.
        case sameProgram
        /// Any other program of this user.
        case other
    }

    /// The properties of this process that decide how it can be ended.
    package var kind: Kind {
        if processID == getpid() { return .own }
        guard let user else { return isHidden ? .foreign(user: nil) : .gone }
        if user != geteuid() { return .foreign(user: Self.name(of: user)) }
        if isStopped { return .stopped(isThisProgram: isThisProgram) }
        if isAncestor { return .ancestor }
        return isThisProgram ? .sameProgram : .other
    }

    /// Whether it was stopped, as by Ctrl-Z. A stopped process reacts to no signal but SIGCONT and SIGKILL.
    package var isStopped: Bool { ["T", "t"].contains(status.prefix(1)) }

    /// Whether it has not ended.
    package var isThere: Bool { user != nil || isHidden }

    /// Whether it belongs to the user of this process; false also if it has ended.
    package var isOurs: Bool { user == geteuid() }

    /// Whether it runs the program of this process, or one of that name, such as another version of it.
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

    /// One thing that a person can do to get what it has.
    package var endingHint: String { Self.endingHint([processID]) }

    /// What a person can do about a stopped process.
    package var resumingHint: String {
        if case .foreign(let user?) = kind { return "ask \(user), whose program it is, to resume it" }
        return "resume it: kill -CONT \(processID)"
    }

    /// The advice on how to get a thing that some processes have.
    ///
    /// - Parameter kind: Gives the kind of a process.
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

    /// The fields of its /proc/PID/stat, from the state on; empty if that can't be read.
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

    /// Whether it is there and can't be seen, as with the option `hidepid` of /proc.
    private var isHidden: Bool { user == nil && (kill(processID, 0) == 0 || errno == EPERM) }

    /// The name of a user; its number if it has none.
    package static func name(of user: UInt32) -> String {
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
    /// The advice on a process that must not be killed; nil for one that may be.
    ///
    /// - Parameter isAlone: Whether the sentence is about this process alone, so that it need not be named.
    fileprivate func hint(_ process: Int32, isAlone: Bool) -> String? {
        let it = isAlone ? "it" : "\(process)"
        return switch self {
        case .own: "close it there first"
        case .gone: "try again: \(it) has ended"
        case .foreign(let user?): "ask \(user), whose program \(it) is, to end it"
        case .foreign(nil): "find out whose program \(it) is, and have it ended: sudo ps -fp \(process)"
        case .stopped(let isThisProgram): "resume \(it): kill -CONT \(process)" + (isThisProgram ? "" : "; then end it")
        case .ancestor: "close it there first: \(isAlone ? "that program" : it) has started this command"
        case .sameProgram: "wait for the end of \(isAlone ? "that program" : it), or end it where it was started"
        case .other: nil
        }
    }
}
