internal import DescriptorIO
internal import Glibc
public import RecordFormat

/// `pumpctl-record`, the program that keeps the record. It is started only where something is recorded or looked up, so that
/// SQLite costs nothing otherwise.
public struct RecordProgram: Sendable {
    /// Where it is.
    public let path: String

    /// The program at `path`.
    public init(path: String) { self.path = path }

    /// The one that is installed with the program that runs: beside it, as it was built, or in `../libexec/pumpctl`.
    ///
    /// - Throws: `not_installed` where there is none.
    public static func installed() throws(Trouble) -> RecordProgram {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let program = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let paths = ["\(folder)/pumpctl-record", "\(folder)/../libexec/pumpctl/pumpctl-record"]
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw Trouble(
                code: "not_installed", text: "pumpctl-record is not installed",
                hint: "install it beside pumpctl: make install")
        }
        return RecordProgram(path: path)
    }

    /// The program that is named, or else the one that is installed.
    static func chosen(_ program: RecordProgram?) throws(Trouble) -> RecordProgram {
        if let program { return program }
        return try installed()
    }

    /// Starts it, its standard input and output at the other end of the socket that is returned.
    func start(_ arguments: [String]) throws(Trouble) -> (process: pid_t, socket: CInt) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Trouble(path, errno: errno) }
        defer { close(ends[1]) }

        var start = ProgramStart(path, [path] + arguments)
        start.descriptors = [STDIN_FILENO: ends[1], STDOUT_FILENO: ends[1]]
        do throws(DescriptorError) { return (try start.start(), ends[0]) } catch {
            close(ends[0])
            throw Trouble(path, errno: error.errno ?? EIO)
        }
    }
}

extension Trouble {
    /// The program could not be started.
    fileprivate init(_ path: String, errno: CInt) {
        self.init(
            code: "system", text: "can't start \(path): \(String(cString: strerror(errno)))",
            hint: "close programs you do not need, or reinstall pumpctl")
    }
}
