import Glibc

/// A file by which programs such as minicom and picocom claim a port: `/run/lock/LCK..ttyUSB0`, which contains the
/// process ID in ASCII.
///
/// The file itself locks nothing, and remains if its program is killed.
public struct LockFile: Sendable, Hashable {
    /// The folder of the system for lock files.
    public static let folder = "/run/lock"

    /// The path of the lock file.
    public var path: String
    /// The process ID that the file contains; nil if it contains none, or if the file can't be read.
    public var processID: Int32?
    /// The command name of the process; nil if the process no longer runs, or its ID is unknown.
    public var command: String?

    /// Creates a description of a lock file.
    ///
    /// - Parameters:
    ///   - path: The path of the lock file.
    ///   - processID: The process ID that the file contains; nil if unknown.
    ///   - command: The command name of the process; nil if the process no longer runs, or its ID is unknown.
    public init(path: String, processID: Int32?, command: String?) {
        self.path = path
        self.processID = processID
        self.command = command
    }

    /// A description of the process, such as `minicom (pid 4711)`; nil if the file names no running process.
    public var holder: String? {
        guard let processID, let command else { return nil }
        return "\(command) (pid \(processID))"
    }

    /// Returns the lock files of a port, except lock files that name this process.
    ///
    /// Programs derive the file's name from the port's path in different ways; this function looks for each of these
    /// names.
    ///
    /// - Parameters:
    ///   - port: The path of the port, such as `/dev/ttyUSB0`.
    ///   - folder: The folder with the lock files.
    public static func all(of port: String, in folder: String = folder) -> [LockFile] {
        names(of: port).compactMap { LockFile(path: "\(folder)/LCK..\($0)") }.filter { $0.processID != getpid() }
    }

    /// Returns the suffixes that programs derive from a port's path: `ttyUSB0` for `/dev/ttyUSB0`; for `/dev/pts/5`,
    /// `5` (minicom) and `pts_5` (picocom). For a symbolic link, the suffixes of both the link and its target are
    /// included.
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

    /// Returns the path with symbolic links resolved; nil if a path below /dev is no link, or if resolving fails.
    ///
    /// Below /dev only the last component can be a link. Most ports are no links, and one readlink(2) costs less than
    /// realpath(3).
    private static func resolved(_ path: String) -> String? {
        var first = CChar()
        if path.hasPrefix("/dev/"), readlink(path, &first, 1) < 0 { return nil }
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Reads a lock file; nil if the file does not exist.
    private init?(path: String) {
        guard access(path, F_OK) == 0 else { return nil }
        let number = Self.number(in: PortHolder.firstBytes(of: path))
        self.init(path: path, processID: number, command: number.flatMap(Self.command(of:)))
    }

    /// Returns the process ID at the start of the text, as in `      4711`, which a program name may follow; nil if
    /// there is none.
    private static func number(in text: String) -> Int32? {
        guard let word = text.split(whereSeparator: \.isWhitespace).first, let number = Int32(word), number > 0 else {
            return nil
        }
        return number
    }

    /// Returns the command name of a process, or `?` if the name can't be read; nil if the process does not run.
    static func command(of processID: Int32) -> String? {
        guard kill(processID, 0) == 0 || errno == EPERM else { return nil }
        return PortHolder.firstBytes(of: "/proc/\(processID)/comm").split(separator: "\n").first.map(String.init) ?? "?"
    }
}

extension PortHolder {
    /// Finds the first running process, other than this one, that claims a port by a lock file; nil if there is none.
    init?(lockFilesOf path: String) {
        for file in LockFile.all(of: path) {
            guard let processID = file.processID, let command = file.command else { continue }
            self.init(processID: processID, command: command, holdsLock: true)
            return
        }
        return nil
    }
}
