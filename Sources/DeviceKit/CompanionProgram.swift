internal import DescriptorIO
internal import Glibc
internal import RecordFormat

/// A program that is installed with the one that runs, and is started only where it is needed: what it is linked with costs
/// nothing otherwise. `pumpctl-record` keeps the record by SQLite.
public struct CompanionProgram: Sendable {
    /// Where it is.
    public let path: String

    /// The program at `path`.
    public init(path: String) { self.path = path }

    /// One that is installed with the program that runs: beside it, as it was built, or in `../libexec/pumpctl`.
    ///
    /// - Throws: `not_installed` where there is none.
    private static func installed(_ name: String) throws(Trouble) -> CompanionProgram {
        let program = ProgramArguments.executablePath
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let paths = ["\(folder)/\(name)", "\(folder)/../libexec/pumpctl/\(name)"]
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw Trouble(
                code: "not_installed", text: "\(name) is not installed",
                hint: "install it next to pumpctl: make install")
        }
        return CompanionProgram(path: path)
    }

    /// The program that is given to keep the record, or else the one that is installed.
    static func recorder(_ program: CompanionProgram?) throws(Trouble) -> CompanionProgram {
        if let program { return program }
        return try installed("pumpctl-record")
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
