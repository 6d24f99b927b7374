import Glibc

/// A file by which programs such as minicom and picocom claim a port: `/run/lock/LCK..ttyUSB0`, with the number of the
/// process in ASCII.
///
/// It locks nothing by itself, and stays behind where its program was killed.
public struct LockFile: Sendable, Hashable {
    /// Where the system keeps them.
    public static let folder = "/run/lock"

    /// Where the file is.
    public var path: String
    /// The process that it names; nil where it names none.
    public var processID: Int32?
    /// The command name of that process; nil where it no longer runs.
    public var command: String?

    /// A lock file with all its parts.
    public init(path: String, processID: Int32?, command: String?) {
        self.path = path
        self.processID = processID
        self.command = command
    }

    /// The process, as in `minicom (pid 4711)`; nil where none is named that runs.
    public var holder: String? {
        guard let processID, let command else { return nil }
        return "\(command) (pid \(processID))"
    }

    /// The lock files of a port, by any of the names that programs make of its path; without those of this process.
    public static func all(of port: String, in folder: String = folder) -> [LockFile] {
        names(of: port).compactMap { LockFile(path: "\(folder)/LCK..\($0)") }.filter { $0.processID != getpid() }
    }

    /// `ttyUSB0` of `/dev/ttyUSB0`. For `/dev/pts/5` minicom writes `5`, and picocom `pts_5`. Each takes a symbolic link by
    /// its own name.
    private static func names(of port: String) -> [String] {
        var names: [String] = []
        for path in [port, resolved(port) ?? port] {
            let parts = path.split(separator: "/")
            let below = parts.dropFirst(parts.first == "dev" ? 1 : 0).map(String.init)
            for name in [String(parts.last ?? ""), below.joined(separator: "_")]
            where !name.isEmpty && !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }

    /// The path without symbolic links; nil for one of a device's file itself.
    private static func resolved(_ path: String) -> String? {
        var first = CChar()
        if path.hasPrefix("/dev/"), readlink(path, &first, 1) < 0 { return nil }
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// - Returns: nil where there is no such file.
    private init?(path: String) {
        guard access(path, F_OK) == 0 else { return nil }
        let number = Self.number(in: PortHolder.firstBytes(of: path))
        self.init(path: path, processID: number, command: number.flatMap(Self.command(of:)))
    }

    /// The number that stands first: `      4711`, and perhaps the program's name behind it.
    private static func number(in text: String) -> Int32? {
        guard let word = text.split(whereSeparator: \.isWhitespace).first, let number = Int32(word), number > 0 else {
            return nil
        }
        return number
    }

    /// The command name of a process that runs; nil where it does not.
    static func command(of processID: Int32) -> String? {
        guard kill(processID, 0) == 0 || errno == EPERM else { return nil }
        return PortHolder.firstBytes(of: "/proc/\(processID)/comm").split(separator: "\n").first.map(String.init) ?? "?"
    }
}

extension PortHolder {
    /// The process that claims a port by a lock file; nil where none does that runs.
    init?(lockFilesOf path: String) {
        for file in LockFile.all(of: path) {
            guard let processID = file.processID, let command = file.command else { continue }
            self.init(processID: processID, command: command, holdsLock: true)
            return
        }
        return nil
    }
}
