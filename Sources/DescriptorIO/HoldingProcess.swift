internal import Glibc

/// A process that has something which this one wants, such as a serial port.
package struct HoldingProcess {
    private let processID: Int32

    /// The process of that number.
    package init(_ processID: Int32) { self.processID = processID }

    /// Whether it was stopped, as by Ctrl-Z. A stopped process reacts to no signal but SIGCONT and SIGKILL.
    package var isStopped: Bool {
        guard let status = TextFile.contents(of: "/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return false
        }
        return ["T", "t"].contains(status[name...].dropFirst(2).prefix(1))
    }

    /// Whether it has not ended.
    package var isThere: Bool { user != nil }

    /// Whether it belongs to the user of this process; false also if it has ended.
    package var isOurs: Bool { user == geteuid() }

    /// One thing that a person can do to get what it has.
    package var endingHint: String {
        if processID == getpid() { return "close it there first" }
        if let user, user != geteuid() { return "ask \(Self.name(of: user)), whose program it is, to end it" }
        return isStopped ? resumingHint : "end it first: kill \(processID)"
    }

    /// What a person can do about a stopped process.
    package var resumingHint: String { "resume it: kill -CONT \(processID)" }

    private var user: uid_t? {
        var status = stat()
        return stat("/proc/\(processID)", &status) == 0 ? status.st_uid : nil
    }

    private static func name(of user: uid_t) -> String {
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
