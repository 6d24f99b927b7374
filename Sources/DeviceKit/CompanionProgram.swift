internal import DescriptorIO
internal import Glibc
package import RecordFormat

/// A program that is installed together with the running program and started only if needed. The running program then
/// starts without the libraries that only the companion uses. `pumpctl-record` is such a program: it stores records with
/// SQLite. `pumpctl-page` is another: it serves the page in a browser.
public struct CompanionProgram: Sendable {
    /// The path of the executable.
    public let path: String

    /// Creates a companion program from the path of its executable.
    public init(path: String) { self.path = path }

    /// Finds a program that is installed with the running program: in the same folder (as in a build folder), in
    /// `../libexec/pumpctl`, or in one of `folders`.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - program: The path of the running program; nil for that of this process.
    ///   - folders: More folders, separated by colons, such as the value of PATH.
    /// - Throws: `Trouble` with the code `not_installed` if none of the folders has a program of that name that this
    ///   user may execute.
    package static func installed(
        _ name: String, besides program: String? = nil, orIn folders: String = ""
    ) throws(Trouble) -> CompanionProgram {
        let program = program ?? ProgramArguments.executablePath
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let places: [Substring] = [folder, "\(folder)/../libexec/pumpctl"] + folders.split(separator: ":")
        let paths = places.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
            // The Debian package pumpctl contains pumpctl-record; the package pumpctld contains the other companions.
            let package = name == "pumpctl-record" ? "pumpctl" : "pumpctld"
            throw Trouble(
                code: "not_installed", text: "\(name) is not installed",
                hint: "install the package \(package), or build it and install it next to pumpctl: make install")
        }
        return CompanionProgram(path: path)
    }

    /// Returns `program`, or the installed `pumpctl-record` if `program` is nil.
    static func recorder(_ program: CompanionProgram?) throws(Trouble) -> CompanionProgram {
        if let program { return program }
        return try installed("pumpctl-record")
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the name of the program.
    ///   - isServer: Whether the program serves until it is ended. A server gets a process session of its own (setsid),
    ///     so that Ctrl-C does not reach it, and its standard error leads to the socket too.
    /// - Returns: The ID of the process, which the caller reaps, and a socket that is connected to the program's
    ///   standard input and output, which the caller closes.
    /// - Throws: `Trouble` with the code `system`.
    package func start(
        _ arguments: [String], isServer: Bool = false
    ) throws(Trouble) -> (process: Int32, socket: CInt) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Trouble(path, errno: errno) }
        defer { close(ends[1]) }

        var start = ProgramStart(path, [path] + arguments)
        start.descriptors = [STDIN_FILENO: ends[1], STDOUT_FILENO: ends[1]]
        if isServer {
            start.descriptors = [STDIN_FILENO: ends[1], STDOUT_FILENO: ends[1], STDERR_FILENO: ends[1]]
            start.hasOwnSession = true
        }
        do throws(DescriptorError) { return (try start.start(), ends[0]) } catch {
            close(ends[0])
            throw Trouble(path, errno: error.errno ?? EIO)
        }
    }
}

extension Trouble {
    /// Creates the error for a program that could not be started.
    fileprivate init(_ path: String, errno: CInt) {
        self.init(
            code: "system", text: "can't start \(path): \(String(cString: strerror(errno)))",
            hint: "close programs you do not need, or reinstall pumpctl")
    }
}
