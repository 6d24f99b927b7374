internal import GRDB
internal import Glibc

/// Where the record is kept, and opening it.
public enum RecordFile {
    /// The database of this user: `$XDG_DATA_HOME/pumpctl/record.sqlite`, by default in `~/.local/share`. Nil where the
    /// environment has neither, or HOME names no folder.
    public static var path: String? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = variable("HOME").flatMap { access($0, F_OK) == 0 ? $0 + "/.local/share" : nil }
        return (variable("XDG_DATA_HOME") ?? home).map { $0 + "/pumpctl/record.sqlite" }
    }

    /// How many bytes the database at `path` takes, with what waits to be moved into it.
    public static func byteCount(_ path: String) throws(RecorderError) -> Int {
        try checkPresence(path)
        return ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return sum + (stat(path + suffix, &status) == 0 ? Int(status.st_size) : 0)
        }
    }

    /// Gives the database at `path` the index by which sessions are counted, and a device's rows found among many. A new
    /// database has it, and a small one gets it when it is written to; ten million rows take some ten seconds, in which
    /// nobody else can write.
    ///
    /// - Returns: Whether it was missing.
    public static func optimize(_ path: String) throws(RecorderError) -> Bool {
        try checkPresence(path)
        let database = try openToWrite(path, patience: .seconds(5))
        do {
            return try database.writeWithoutTransaction { db in
                if try SessionIndex.exists(db) { return false }
                try db.inTransaction(.immediate) {
                    try SessionIndex.build(db)
                    return .commit
                }
                // What was built is in the log of changes, which others would have to move. If they read, it stays there.
                _ = try? db.checkpoint(.truncate)
                return true
            }
        } catch {
            throw RecorderError(error, path: path, activity: "write to")
        }
    }

    /// Opens the database to write, with its folder and its tables made where they are missing.
    ///
    /// - Parameter patience: How long another program is waited for.
    static func openToWrite(_ path: String, patience: Duration) throws(RecorderError) -> DatabaseQueue {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try makeFolder(folder)
        // SQLite does not wait for others while it turns a new database to WAL, and two that migrate would both begin.
        let lock = try FolderLock(folder, patience: patience)
        defer { lock.release() }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(patience / .seconds(1))
            let database = try DatabaseQueue(path: path, configuration: configuration)
            try database.inDatabase { db in
                if try Schema.migrator.hasBeenSuperseded(db) {
                    throw RecorderError(.newerSchema, path: path, activity: "write to")
                }
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                // What was acknowledged also outlives a power cut; a batch has one commit.
                try db.execute(sql: "PRAGMA synchronous = FULL")
            }
            try Schema.migrator.migrate(database)
            try database.write { try SessionIndex.buildWhereSmall($0) }
            return database
        } catch {
            throw RecorderError(error, path: path, activity: "open")
        }
    }

    /// Opens the database to read.
    static func openToRead(_ path: String) throws(RecorderError) -> DatabaseQueue {
        try checkPresence(path)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw RecorderError(error, path: path, activity: "read")
        }
    }

    private static func checkPresence(_ path: String) throws(RecorderError) {
        guard access(path, F_OK) == 0 else {
            throw errno == ENOENT
                ? RecorderError(.notFound, path: path, activity: "read")
                : RecorderError(errno: errno, path: path, activity: "read")
        }
    }

    /// Makes a folder and those above it, for this user alone, as the XDG base directories are.
    private static func makeFolder(_ path: String) throws(RecorderError) {
        if access(path, F_OK) == 0 || mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw RecorderError(errno: errno, path: path, activity: "make the folder")
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw RecorderError(errno: errno, path: path, activity: "make the folder")
        }
    }
}

/// A folder that other programs of this kind stay out of meanwhile.
struct FolderLock {
    private static let pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)

    let descriptor: CInt

    init(_ folder: String, patience: Duration) throws(RecorderError) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecorderError(errno: errno, path: folder, activity: "open") }
        let deadline = ContinuousClock.now.advanced(by: patience)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return }  // not every file system has locks
            guard ContinuousClock.now < deadline else {
                close(descriptor)
                throw RecorderError(.locked, path: folder, activity: "open")
            }
            var pause = Self.pause
            nanosleep(&pause, nil)
        }
    }

    func release() {
        // By name: a process that was forked just now has the descriptor too, until it comes to its exec(2).
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
