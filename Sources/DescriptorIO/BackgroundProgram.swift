internal import Glibc

/// This program once more, in a session of its own, which goes on when this one has ended.
///
/// The program is started anew rather than forked: a copy of a process has one of its threads. It runs the same code with
/// the same arguments, which finds out by ``isThis`` that it is the one in the background:
///
/// ```swift
/// let background = BackgroundProgram(mark: "SCALE_IN_BACKGROUND")
/// if !background.isThis {
///     guard case .ready(let process, let output) = try background.start(ProgramArguments.all) else { exit(1) }
///     print(output, "end it by: kill \(process)")
/// } else {
///     print("serving at", server.path)
///     background.release()  // what the other one waits for
/// }
/// ```
public struct BackgroundProgram: Sendable {
    /// What came of a start.
    public enum Start: Sendable, Hashable {
        /// The process of this number has come to ``BackgroundProgram/release()``, and has written this before.
        case ready(process: Int32, output: String)
        /// The process ended before, with this status, as a shell tells it: 128 and its number where a signal ended it.
        case ended(status: Int32, output: String)
    }

    /// What ends the output of a program that is ready, and is in no text.
    private static let end: UInt8 = 0

    private let mark: String

    /// - Parameter mark: The variable that the one in the background finds in its environment.
    public init(mark: String) { self.mark = mark }

    /// Whether this process is the one in the background.
    public var isThis: Bool { getenv(mark) != nil }

    /// Starts the program in the background, and waits until it is ready. Its errors go where this program's go.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments, the name of the program first.
    ///   - program: The path of the program: this one, unless told otherwise.
    /// - Throws: Where the system has no room for another process.
    public func start(
        _ arguments: [String], program: String? = nil
    ) throws(DescriptorError) -> Start {
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

    /// In the one in the background, once it does what it was started for: tells the other one so, and lets go of the standard
    /// streams, which whoever started the program may wait to be closed. Elsewhere it does nothing.
    public func release() {
        guard isThis else { return }
        _ = write(STDOUT_FILENO, [Self.end], 1)
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0 else { return }
        for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(nothing, stream) }
        close(nothing)
    }

    /// The path of this program; `/proc/self/exe` would give the other the name `exe`.
    private static var ownPath: String {
        let link = "/proc/self/exe"
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(link, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        // It may have been replaced or removed meanwhile.
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

    /// What comes, up to the end of the output or of the writer.
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
