internal import Glibc

/// A second run of this program in a process session of its own (setsid), which continues after the first one has
/// ended.
///
/// The program is started again rather than forked: a forked process has only one of the threads. The second run
/// executes the same code with the same arguments; ``isThis`` is true in the second run:
///
/// ```swift
/// let background = BackgroundProgram(mark: "SCALE_IN_BACKGROUND")
/// if !background.isThis {
///     guard case .ready(let process, let output) = try background.start(ProgramArguments.all) else { exit(1) }
///     print(output, "end it by: kill \(process)")
/// } else {
///     print("serving at", server.path)
///     background.release()  // lets `start` return in the first run
/// }
/// ```
public struct BackgroundProgram: Sendable {
    /// The result of a start.
    public enum Start: Sendable, Hashable {
        /// The process has called ``BackgroundProgram/release()``, after writing this output.
        case ready(process: Int32, output: String)
        /// The process ended before it was ready, with this exit status by the shell's convention: 128 plus the
        /// signal's number if a signal ended it.
        case ended(status: Int32, output: String)
    }

    /// The byte that ends the output of a program that is ready: NUL, which occurs in no text.
    private static let end: UInt8 = 0

    private let mark: String

    /// Creates a background program.
    ///
    /// - Parameter mark: The name of an environment variable that identifies the second run.
    public init(mark: String) { self.mark = mark }

    /// Whether this process is the second run, in the background.
    public var isThis: Bool { getenv(mark) != nil }

    /// Starts the second run, and blocks the thread until the second run is ready or has ended. Until it is ready, the
    /// second run shares this program's standard error, and this function collects its standard output.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, beginning with the name of the program.
    ///   - program: The path of the program; nil for this program.
    /// - Throws: ``DescriptorError`` if no process can be started.
    public func start(
        _ arguments: [String], program: String? = nil
    ) throws(DescriptorError) -> Start {
        // Sockets rather than a pipe: the module Glibc lacks pipe2, and pipe can't set close-on-exec at once.
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .last("socketpair") }
        defer { close(ends[0]) }
        let spawned = Result { () throws(DescriptorError) in
            try spawn(arguments, program ?? Self.ownPath, output: ends[1])
        }
        close(ends[1])
        let process = try spawned.get()
        let (bytes, isReady) = Self.output(from: ends[0])
        let output = String(decoding: bytes, as: UTF8.self)
        if isReady { return .ready(process: process, output: output) }
        return .ended(status: ProcessEnd.reap(process), output: output)
    }

    /// Reports that the second run is ready, and redirects its standard output and standard error to /dev/null. Does
    /// nothing in the first run.
    ///
    /// After ``start(_:program:)`` has returned, nobody reads the standard output of the second run. The standard error
    /// is that of the first run, and a program that has started the first run may read it until all have closed it.
    public func release() {
        guard isThis else { return }
        _ = write(STDOUT_FILENO, [Self.end], 1)
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0 else { return }
        for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(nothing, stream) }
        close(nothing)
    }

    /// The path of this program. With `/proc/self/exe` as its path, the second run would have the name `exe`.
    private static var ownPath: String {
        let link = "/proc/self/exe"
        let path = Folder.target(ofLink: link) ?? ""
        // The file may have been replaced or removed since the start.
        var (own, there) = (stat(), stat())
        let isThere = stat(link, &own) == 0 && stat(path, &there) == 0
        return isThere && own.st_dev == there.st_dev && own.st_ino == there.st_ino ? path : link
    }

    private func spawn(_ arguments: [String], _ program: String, output: CInt) throws(DescriptorError) -> pid_t {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0 else { throw .last("open") }
        defer { close(nothing) }
        var start = ProgramStart(program, arguments)
        start.variables = [mark: "1"]
        start.descriptors = [STDIN_FILENO: nothing, STDOUT_FILENO: output]
        start.hasOwnSession = true
        return try start.start()
    }

    /// Reads the output up to its end mark, or until the writer has ended.
    private static func output(from descriptor: CInt) -> (bytes: [UInt8], isReady: Bool) {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return (bytes, false) }
            guard byte != end else { return (bytes, true) }
            bytes.append(byte)
        }
    }
}
