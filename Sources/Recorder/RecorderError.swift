internal import GRDB
internal import Glibc

/// The failure to read or write the record.
public struct RecorderError: Error, Sendable, Hashable {
    /// The kinds of failure that a caller handles differently.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The database does not exist: nothing has been recorded.
        case notFound = "not_found"
        /// No path for the database is known: neither XDG_DATA_HOME nor a usable HOME is set.
        case noPlace = "no_place"
        /// This user lacks permission to read or write the database.
        case notPermitted = "not_permitted"
        /// Another program kept the database locked for longer than the time limit.
        case locked
        /// The disk is full, or the file has reached its size limit.
        case full
        /// The file is damaged, or is no SQLite database.
        case damaged
        /// A newer version of this program has changed the tables.
        case newerSchema = "newer_schema"
        /// The recorder was closed.
        case closed
        /// Any other failure of the system or SQLite.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// The path of the database or of its folder.
    public var path: String
    /// The operation that failed, such as `open` or `write to`.
    public var activity: String
    /// SQLite's extended result code; 0 if the failure is not SQLite's.
    public var resultCode: Int32
    /// The message of SQLite or the system.
    public var detail: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - path: The path of the database or of its folder.
    ///   - activity: The operation that failed, such as `open` or `write to`.
    ///   - resultCode: SQLite's extended result code; 0 if the failure is not SQLite's.
    ///   - detail: The message of SQLite or the system.
    public init(_ code: Code, path: String, activity: String, resultCode: Int32 = 0, detail: String = "") {
        self.code = code
        self.path = path
        self.activity = activity
        self.resultCode = resultCode
        self.detail = detail
    }

    /// An instruction for a person who wants to fix the failure.
    public var hint: String {
        switch code {
        case .notFound: "record something first: pumpctl monitor, or any command with --record"
        case .noPlace: "set HOME or XDG_DATA_HOME to a folder that you own"
        case .notPermitted: "make yourself the owner of the folder, or set XDG_DATA_HOME to another folder"
        case .locked: "find the program that locks the record, and close it there: fuser -v \(path)"
        case .full: "free space on the disk, or raise the limit on file sizes: ulimit -f"
        case .damaged: "move the file away; a new one is created"
        case .newerSchema: "use the version of pumpctl that wrote it, or move the file away"
        case .closed: "record before the recorder is closed"
        case .system: "check the disk, or set XDG_DATA_HOME to another folder"
        }
    }
}

extension RecorderError {
    /// Converts an error from GRDB.
    init(_ error: any Error, path: String, activity: String) {
        switch error {
        case let error as RecorderError: self = error
        case let error as DatabaseError:
            let code: Code =
                switch error.resultCode {
                case .SQLITE_BUSY, .SQLITE_LOCKED: .locked
                case .SQLITE_FULL: .full
                case .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: .notPermitted
                case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
                case .SQLITE_CANTOPEN: .notPermitted
                // SQLite reports a file-size limit (EFBIG) and a disk quota as write errors.
                case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_WRITE: .full
                default: .system
                }
            self.init(
                code, path: path, activity: activity, resultCode: error.extendedResultCode.rawValue,
                detail: error.message ?? "")
        default: self.init(.system, path: path, activity: activity, detail: "\(error)")
        }
    }

    /// Converts an errno of the system.
    init(errno: Int32, path: String, activity: String) {
        let code: Code =
            switch errno {
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .system
            }
        self.init(code, path: path, activity: activity, detail: String(cString: strerror(errno)))
    }
}

extension RecorderError: CustomStringConvertible {
    public var description: String {
        let what =
            switch code {
            case .notFound: "nothing has been recorded there"
            case .noPlace: "XDG_DATA_HOME is not set, and HOME names no folder"
            case .notPermitted: "not permitted"
            case .locked: "locked by another program"
            case .full: "the disk is full, or the file has reached its size limit"
            case .damaged: "the file is damaged, or is not a database"
            case .newerSchema: "a newer version of pumpctl has changed the format of the record"
            case .closed: "the recorder was closed"
            case .system: "system error"
            }
        let detail = detail.isEmpty || code == .newerSchema ? "" : " (\(detail))"
        return "can't \(activity) \(path): \(what)\(detail)"
    }
}
