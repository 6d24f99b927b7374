import ArgumentParser
import CVersion
import DescriptorIO
import Glibc
import PageServer
import RecordFormat

/// The command line of the HTTP server for the devices of a pumpctld.
@main
struct PumpctlPage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pumpctl-page", abstract: "Serve the devices of pumpctld to browsers and programs by HTTP.",
        usage: """
            pumpctl page [--http <address>] [--socket <path>] [--host <name> ...] [--captures <folder>]
            pumpctl page --code [--see] [--http <address>]
            pumpctl page --sessions
            pumpctl page --revoke <id>
            """,
        discussion: """
            Listens on a loopback address or a Unix socket. Other machines need a reverse proxy with TLS.

            Example: pumpctl page --http 8080
            """,
        version: String(cString: cversion()))

    @Option(
        help: ArgumentHelp(
            "A port of 127.0.0.1, a loopback host:port, or unix:/path. (default: 8080)", valueName: "address"))
    var http: String?

    @Option(help: ArgumentHelp("Socket of pumpctld, in place of the standard ones.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("A further name of this server, as behind a reverse proxy.", valueName: "name"))
    var host: [String] = []

    @Option(
        help: ArgumentHelp("A folder with captures, which everybody who is logged in may read.", valueName: "folder"))
    var captures: String?

    @Flag(help: "Open the page in the browser, logged in. A page at a Unix socket is not opened.")
    var open = false

    @Flag(help: "Print an address with a code, by which one browser or program can log in within 5 minutes.")
    var code = false

    @Flag(help: "With --code: permit to look only.")
    var see = false

    @Flag(help: "List the sessions.")
    var sessions = false

    @Option(help: ArgumentHelp("End the session with this ID, or all.", valueName: "id"))
    var revoke: String?

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as PageError {
            say("\(error)", hint: error.hint)
            end(error.code.rawValue)
        } catch let error as SessionFile.Failure {
            say("\(error)", hint: error.hint)
            // EX_CONFIG, EX_NOPERM and EX_IOERR of sysexits.h.
            end(error.code == .wrongMode ? 78 : [EACCES, EPERM].contains(error.errno) ? 77 : 74)
        } catch {
            exit(withError: error)
        }
    }

    private static func end(_ status: Int32) -> Never { Glibc.exit(status) }

    private static func say(_ message: String, hint: String? = nil) {
        let text = "pumpctl-page: \(message)\n" + (hint.map { "  hint: \($0)\n" } ?? "")
        _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }

    func validate() throws {
        if captures == "" { throw ValidationError("--captures needs the path of a folder") }
        if see, !code { throw ValidationError("--see needs --code") }
        if [code, sessions, revoke != nil].filter(\.self).count > 1 {
            throw ValidationError("choose one of --code, --sessions and --revoke")
        }
        if captures != nil, code || sessions || revoke != nil {
            throw ValidationError("--captures is for a page that is being started")
        }
    }

    func run() throws {
        let address = try self.address()
        var file = SessionFile(path: Self.sessionPath)
        if let revoke {
            let count = try file.revoke(revoke, at: .now)
            guard count > 0 else { throw ValidationError("there is no session '\(revoke)': list them by --sessions") }
            print("ended: \(count)")
        } else if sessions {
            for session in try file.current(at: .now) where !session.isCode {
                print(
                    "\(session.id)  \(session.scopeName)  since \(session.began.dateAndTime)  until \(session.ends.dateAndTime)"
                )
            }
        } else if code {
            print(try Self.url(of: address, code: file.add(isCode: true, mayCommand: !see, at: .now)))
        } else {
            let begun = EventLoop.run { [file] loop in
                do {
                    try await serve(address, file, on: loop)
                    return Result<Void, any Error>.success(())
                } catch {
                    return .failure(error)
                }
            }
            try begun.get()
        }
    }

    /// Serves the page until SIGINT or SIGTERM, or until the pumpctld that has started this program has ended.
    ///
    /// Nothing here uses Dispatch, which would wake an idle process every second.
    private func serve(_ address: PageSettings.Address, _ file: SessionFile, on loop: EventLoop) async throws {
        let sockets = socket.map { [$0] }
        var settings = PageSettings(address, sessionPath: Self.sessionPath) { sockets ?? DaemonSockets.paths }
        settings.names = host
        settings.captures = captures
        settings.pumpctl = Self.pumpctl
        settings.log = { Self.say($0) }
        let (ends, end) = AsyncStream<Void>.makeStream()
        // Open this before the server starts, whose threads must not receive the signals. If the system has no thread
        // left, the signals end the program at once.
        let signals = try? SignalSource.open([SIGINT, SIGTERM]) { _ in end.finish() }
        let server = try await PageServer.start(settings)
        Self.waitForEndOfParent { end.finish() }
        let ownAddress = "\(await server.address)"
        Self.say("serving at \(ownAddress)")
        file.makeFolder()
        Self.keep(ownAddress)
        if open {
            var file = file
            let url = try Self.url(of: await server.address, code: file.add(isCode: true, mayCommand: true, at: .now))
            print(url)
            // Standard output may be a file or a pipe, whose reader waits for the address.
            fflush(nil)
            if case .unix = address {
                Self.say(
                    "no browser was opened: the page is at a Unix socket",
                    hint: "open the printed path at the reverse proxy of that socket")
            } else {
                Self.browse(url, by: "\(Self.sessionPath).html")
            }
        }
        let running = Task(executorPreference: loop) {
            await server.run()
            end.finish()
        }
        for await _ in ends {}
        running.cancel()
        await running.value
        signals?.close(isEnding: true)
    }

    // MARK: Parts

    /// Calls a function when the pumpctld that started this program has ended, as its end of the socket at standard
    /// input is then closed. Otherwise, this program would keep the port after a killed pumpctld. Does nothing if
    /// standard input is no socket: then no pumpctld has started this program.
    private static func waitForEndOfParent(_ isOver: @escaping @Sendable () -> Void) {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let thread = try? BackgroundThread {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            isOver()
        }
        thread?.detach()
    }

    /// The path of pumpctl, if it is installed with this program: in the same folder (as in a build folder), or in
    /// `../../bin`.
    private static var pumpctl: String? {
        let program = ProgramArguments.executablePath
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        return ["\(folder)/pumpctl", "\(folder)/../../bin/pumpctl"].first { access($0, X_OK) == 0 }
    }

    /// The path of the file of sessions: in the folder that systemd gives the service, or in this user's state folder.
    private static var sessionPath: String {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let folder = variable("STATE_DIRECTORY") { return "\(folder)/sessions" }
        let folder = variable("XDG_STATE_HOME") ?? "\(variable("HOME") ?? "/root")/.local/state"
        return "\(folder)/pumpctl-page/sessions"
    }

    /// Returns the address of the page, with a code that logs one browser in. The code is in the fragment, which
    /// browsers do not send to servers. Of a page at a Unix socket, returns only the path: its host is that of the
    /// reverse proxy.
    private static func url(of address: PageSettings.Address, code: String) -> String {
        if case .unix = address { return "/#\(code)" }
        return "\(address)/#\(code)"
    }

    /// The path of the file with the address of the page that this user has started last, for `--code`.
    private static var addressPath: String { "\(sessionPath).address" }

    /// Writes the address of this page into its file. A page whose address could not be written is served all the same.
    private static func keep(_ address: String) {
        let file = Glibc.open(addressPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        _ = write(file, address, address.utf8.count)
        close(file)
    }

    /// Parses `--http`. Without `--http`, returns port 8080 or, with `--code`, the address of the page that was started
    /// last, if it is known. ``PageServer`` rejects hosts that are not loopback.
    private func address() throws -> PageSettings.Address {
        let kept = code ? TextFile.contents(of: Self.addressPath) ?? "" : ""
        var text = http ?? (kept.isEmpty ? "8080" : kept)
        if text.hasPrefix("http://") { text.removeFirst(7) }
        if text.hasPrefix("unix:") { return .unix(path: String(text.dropFirst(5))) }
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        var host = colon.map { String(text[..<$0]) } ?? "127.0.0.1"
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
            !host.isEmpty
        else { throw ValidationError("--http must be a port, a loopback host:port such as [::1]:8080, or unix:/path") }
        return .loopback(host: host, port: Int(port))
    }

    /// Opens an address in the user's browser, in a process of its own.
    ///
    /// - Parameter path: The path of a file that is created and leads to the address. The code in the address must not
    ///   be in a command line, which every user of the machine can read. The file remains, since the browser may read
    ///   it later; its code works once, and for 5 minutes.
    private static func browse(_ url: String, by path: String) {
        // Together with O_EXCL: never write into a file that somebody else has made.
        unlink(path)
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let text = "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=\(url)\">\n"
        let isWritten = file >= 0 && write(file, text, text.utf8.count) == text.utf8.count
        close(file)
        guard isWritten else { return say("can't write \(path)", hint: "open the printed address yourself") }
        var process = pid_t()
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("xdg-open"), strdup(path), nil]
        if posix_spawnp(&process, "xdg-open", nil, nil, arguments, environ) != 0 {
            say("can't open a browser: xdg-open is missing", hint: "open the printed address yourself")
        }
        for argument in arguments { free(argument) }
    }
}
