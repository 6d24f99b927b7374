import DeviceKit
import Glibc
import RecordFormat

extension Failure {
    /// Why nothing more was done with files, or with what was recorded.
    init(of error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as FileError: self.init(error)
        case let trouble as Trouble: self.init(trouble)
        default: self.init(.ioError, code: "system", "\(error)")
        }
    }

    /// A file could not be opened or written.
    init(_ error: FileError) { self.init(file: error.path ?? "standard output", errno: error.errno) }

    /// A file could not be opened or written.
    init(file path: String, errno: CInt) {
        let (status, code): (ExitStatus, String) =
            switch errno {
            case ENOENT, ENOTDIR, EISDIR: (.noInput, "not_found")
            case EACCES, EPERM, EROFS: (.noPermission, "not_permitted")
            case EPIPE: (.brokenPipe, "broken_pipe")
            case EFBIG: (.ioError, "too_large")
            default: (.ioError, "system")
            }
        self.init(status, code: code, "\(path): \(String(cString: strerror(errno)))", hint: "name another file")
    }

    /// Standard output takes no more.
    ///
    /// - Parameter outcome: What the command has done, which nobody could read there.
    init(standardOutput errno: Int32, outcome: String? = nil) {
        self.init(file: "standard output", errno: errno)
        message += outcome.map { "; the command was carried out: \($0)" } ?? "; results are missing from it"
        hint = "make room, or send the results elsewhere"
    }
}

extension OutputFile {
    /// Writes results of a command.
    func write(results: [UInt8]) throws(Failure) {
        do throws(FileError) { try write(results) } catch { throw Failure(error) }
    }
}
