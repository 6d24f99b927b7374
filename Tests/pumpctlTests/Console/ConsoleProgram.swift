import DescriptorIO
import FirmwareSim
import Glibc
import SerialPort
import TestSupport
import Testing

/// The real `pumpctl` as a child process, on pipes or on a terminal.
final class ConsoleProgram {
    private let processID: pid_t
    /// One end of a connection whose other end only the child has open: readable once the child has ended.
    private let life: CInt
    /// The read end of the child's standard output and standard error, or the master of its terminal.
    let output: CInt
    /// The write end of the child's standard input, or the master of its terminal; -1 once closed.
    private var input: CInt
    /// Whether this object closes `input` and `output`: pipes, but not the master of a terminal.
    private let ownsDescriptors: Bool
    /// Whether the child's exit status was taken. From then on its process ID may be another process's.
    private var isReaped = false

    struct NotStarted: Error { var errno: CInt }
    /// The child has sent nothing within `patience`, or its output has ended too early.
    struct NothingCame: Error, CustomStringConvertible { var description: String }

    /// Runs the program on pipes.
    init(_ arguments: [String], home: ConsoleFolder) throws {
        let (input, output) = (try Self.pipe(), try Self.pipe())
        (processID, life) = try Self.spawn(arguments, home, [input.read, output.write, output.write])
        close(input.read)
        close(output.write)
        self.input = input.write
        self.output = output.read
        ownsDescriptors = true
    }

    /// Runs the program on a terminal.
    init(
        _ arguments: [String], home: ConsoleFolder, on terminal: ConsoleTerminal, environment: [String: String] = [:]
    ) throws {
        (processID, life) = try Self.spawn(
            arguments, home, [terminal.slave, terminal.slave, terminal.slave], environment)
        input = terminal.master
        output = terminal.master
        ownsDescriptors = false
    }

    deinit {
        if !isReaped {
            kill(processID, SIGKILL)
            waitpid(processID, nil, 0)
        }
        close(life)
        if ownsDescriptors {
            close(output)
            endInput()
        }
    }

    private static func pipe() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        // Unlike a pipe, a socket pair is close-on-exec from the start, so that no other child holds it open.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw NotStarted(errno: errno) }
        return (ends[0], ends[1])
    }

    /// Starts the program; returns its process ID, and the descriptor for ``life``.
    private static func spawn(
        _ arguments: [String], _ home: ConsoleFolder, _ streams: [CInt], _ others: [String: String] = [:]
    ) throws -> (pid_t, CInt) {
        let life = try pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for (number, stream) in (streams + [life.write]).enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream, CInt(number))
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let words = (["pumpctl"] + arguments).map { strdup($0) } + [nil]
        let environment =
            [
                "TERM=xterm", "HOME=\(home.path)", "XDG_STATE_HOME=\(home.path)", "TZ=UTC", "NO_COLOR=1",
                "PUMPCTL_RECORD=0", "PATH=/usr/bin:/bin",
                "LD_LIBRARY_PATH=" + (getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? ""),
            ] + others.map { "\($0)=\($1)" }
        let variables = environment.map { strdup($0) } + [nil]
        var child: pid_t = 0
        let error = posix_spawn(&child, Executable.pumpctl, &actions, &attributes, words, variables)
        (words + variables).forEach { free($0) }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        close(life.write)
        guard error == 0 else { throw NotStarted(errno: error) }
        return (child, life.read)
    }

    // MARK: Input and output

    /// Writes to the standard input, or types on the terminal.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(input, bytes, bytes.count) == bytes.count)
    }

    func endInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    func signal(_ number: CInt) { if !isReaped { kill(processID, number) } }

    /// Waits for the next bytes of the output; nil at the end. Throws ``NothingCame`` if none arrive within `patience`.
    func read() async throws -> [UInt8]? {
        try await Self.waitUntilReadable(output)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(output, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private var text: [UInt8] = []

    /// Waits for the next line of the output; nil at the end. A last line without a line end is dropped.
    func line() async throws -> String? {
        while true {
            if let end = text.firstIndex(of: 0x0A) {
                defer { text.removeFirst(end + 1) }
                return String(decoding: text[..<end], as: UTF8.self)
            }
            guard let bytes = try await read() else { return nil }
            text += bytes
        }
    }

    /// Waits for the end of the output; returns the remaining lines.
    func lines() async throws -> [String] {
        var lines: [String] = []
        while let line = try await line() { lines.append(line) }
        return lines
    }

    /// Waits for the exit; returns the exit status, or 128 plus the number of the signal that ended the program.
    func exitStatus() async throws -> CInt {
        try await Self.waitUntilReadable(life)
        isReaped = true
        return ProcessEnd.reap(processID)
    }

    static func waitUntilReadable(_ descriptor: CInt) async throws {
        let end = ContinuousClock.now.advanced(by: patience)
        guard try await EventLoop.shared.waitUntilReady(descriptor, events: CShort(POLLIN), deadline: end) != 0 else {
            throw NothingCame(description: "nothing came in \(patience)")
        }
    }
}

/// A home folder that is removed when its last user releases it.
final class ConsoleFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/pumpctl-console-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        for name in ["pump", "pumpctl/history"] { unlink("\(path)/\(name)") }
        rmdir("\(path)/pumpctl")
        rmdir(path)
    }

    /// The path at which a test puts the device.
    var port: String { path + "/pump" }
}

/// A simulated pump at the port of its own folder, which can be unplugged and plugged in again.
final class ConsolePump {
    let home = ConsoleFolder()
    /// At 716, the knob stands for the speed at which ON starts, 70 %.
    let host = DeviceHost(PumpFirmware(options: PumpFirmwareOptions(potentiometer: 716)), pace: .onDemand)
    private var server: PseudoTerminalServer<PumpFirmware>?

    init() async throws { try await plugIn() }

    func plugIn() async throws { server = try await PseudoTerminalServer.open(host, link: home.port) }

    func unplug() async {
        await server?.close()
        server = nil
    }

    /// Presses the button, and lets 400 ms pass, so that the firmware handles it.
    func pressButton() async {
        await host.change { pump, instant in pump.pressButton(at: instant) }
        await host.advance(by: .milliseconds(400))
    }
}

/// Waits for a line that a program has sent to the pseudo-terminal `device`; returns it with its end.
func consoleLine(from device: PseudoTerminal) async throws -> String {
    var line: [UInt8] = []
    while !line.contains(0x0A) {
        try await ConsoleProgram.waitUntilReadable(device.descriptor)
        // Byte by byte, to leave the text after the line for the next call.
        var buffer: [UInt8] = [0]
        var span = buffer.mutableSpan
        var bytes = span.mutableBytes
        if case .bytes(let count) = try device.read(into: &bytes) { line += buffer[..<count] }
    }
    return String(decoding: line, as: UTF8.self)
}
