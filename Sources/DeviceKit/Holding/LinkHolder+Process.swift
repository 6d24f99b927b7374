internal import Glibc
internal import LineProtocol

extension LinkHolder {
    /// Whether it is this program, as another process.
    var isThisProgram: Bool {
        var (other, own) = (stat(), stat())
        guard stat("/proc/self/exe", &own) == 0 else { return false }
        // Another user's program can't be looked at: its name has to do.
        guard stat("/proc/\(processID)/exe", &other) == 0 else { return command == Self.ownCommand }
        return other.st_dev == own.st_dev && other.st_ino == own.st_ino
    }

    /// Whether it was stopped, as by Ctrl-Z.
    var isStopped: Bool {
        guard let status = Self.beginning(of: "/proc/\(processID)/stat"), let name = status.lastIndex(of: ")") else {
            return false
        }
        return ["T", "t"].contains(status[name...].dropFirst(2).prefix(1))
    }

    /// What a person does who finds it stopped.
    var resumingHint: String { "resume it: kill -CONT \(processID)" }

    private static var ownCommand: String? {
        beginning(of: "/proc/self/comm").map { String($0.prefix { $0 != "\n" }) }
    }

    /// What a file of the kernel begins with; nil where it can't be read.
    private static func beginning(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }
}
