internal import GRDB
internal import Glibc

/// The location of the database, and functions that open it.
public enum RecordFile {
    /// The path of this user's database: `$XDG_DATA_HOME/pumpctl/record.sqlite`, by default in `~/.local/share`. nil if
    /// neither `XDG_DATA_HOME` is set to an absolute path, nor `HOME` to the absolute path of an existing folder.
    public static var path: String? {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = variable("HOME").flatMap { access($0, F_OK) == 0 ? $0 + "/.local/share" : nil }
        return (variable("XDG_DATA_HOME") ?? home).map { $0 + "/pumpctl/record.sqlite" }
    }

    /// Returns the size of the database at `path` in bytes, including its write-ahead log.
    ///
    /// - Throws: ``RecorderError``, with ``RecorderError/Code/notFound`` if there is no database.
    public static func byteCount(_ path: String) throws(RecorderError) -> Int {
        try checkPresence(path)
        return ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return sum + (stat(path + suffix, &status) == 0 ? Int(status.st_size) : 0)
        }
    }

    /// Adds the index that speeds up counting the rows of sessions and finding one device's rows among many.
    ///
    /// A new database has the index, and a small one gets it at the next write. Ten million rows take some ten seconds,
    /// in which no other program can write.
    ///
    /// - Parameter path: The path of the database.
    /// - Returns: True if this call has added the index. False if the database had the index, or is so small that
    ///   opening it for writing has added the index.
    /// - Throws: ``RecorderError``, with ``RecorderError/Code/notFound`` if there is no database.
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
                // Move the new index from the write-ahead log into the database, so that no other program has to. If
                // other programs are reading, the index stays in the log.
                _ = try? db.checkpoint(.truncate)
                return true
            }
        } catch {
            throw RecorderError(error, path: path, activity: "write to")
        }
    }

    /// Opens the database for writing, and creates its folder and tables if they are missing.
    ///
    /// - Parameters:
    ///   - path: The path of the database.
    ///   - patience: The longest time to wait for another program's lock.
    static func openToWrite(_ path: String, patience: Duration) throws(RecorderError) -> DatabaseQueue {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try makeFolder(folder)
        // SQLite does not wait for locks while it switches a new database to WAL mode, and two programs that migrate at
        // the same time would both start from the beginning.
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
                // Each commit waits for the disk, so that acknowledged records survive a power cut. A batch of records
                // is one commit.
                try db.execute(sql: "PRAGMA synchronous = FULL")
            }
            try Schema.migrator.migrate(database)
            try database.write { try SessionIndex.buildWhereSmall($0) }
            return database
        } catch {
            throw RecorderError(error, path: path, activity: "open")
        }
    }

    /// Opens the database for reading. Each read waits up to 5 s for another program's lock.
    ///
    /// - Throws: ``RecorderError``, with ``RecorderError/Code/notFound`` if there is no database.
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

    /// Creates a folder and its parents, accessible to this user only, as the XDG base directory specification asks.
    private static func makeFolder(_ path: String) throws(RecorderError) {
        if access(path, F_OK) == 0 || mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw RecorderError(errno: errno, path: path, activity: "create the folder")
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw RecorderError(errno: errno, path: path, activity: "create the folder")
        }
    }
}

/// An advisory lock on a folder, which keeps out other programs that use this type.
struct FolderLock {
    /// The pause between two attempts to lock the folder.
    private static let pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)

    let descriptor: CInt

    /// Locks a folder. Blocks the thread for up to `patience` while another program has the lock. On a file system
    /// without locks, nothing is locked.
    ///
    /// - Throws: ``RecorderError``, with ``RecorderError/Code/locked`` after `patience`.
    init(_ folder: String, patience: Duration) throws(RecorderError) {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecorderError(errno: errno, path: folder, activity: "open") }
        let deadline = ContinuousClock.now.advanced(by: patience)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { return }  // not every file system supports locks
            guard ContinuousClock.now < deadline else {
                close(descriptor)
                throw RecorderError(.locked, path: folder, activity: "open")
            }
            var pause = Self.pause
            nanosleep(&pause, nil)
        }
    }

    func release() {
        // Unlock explicitly: a child that was just forked shares the descriptor until it calls exec(2).
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
