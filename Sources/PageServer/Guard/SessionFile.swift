internal import Glibc
package import RecordFormat
internal import StrictJSON

/// The file with the sessions and unused codes, a JSON object a line. Several programs may change it at once: the
/// server, `pumpctl page --revoke` and `pumpctl page --code`.
package struct SessionFile: Sendable {
    /// The reason why the file can't be used.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The kinds of failures.
        package enum Code: Sendable, Hashable {
            /// The file is readable or writable for other users, or belongs to another user.
            case wrongMode
            /// The file or its folder can't be read or written.
            case system
        }

        package let code: Code
        package let path: String
        /// The error number of a `system` failure.
        package let errno: Int32

        package var description: String {
            switch code {
            case .wrongMode: "other users have access to the file of sessions \(path)"
            case .system: "can't use the file of sessions \(path): \(String(cString: strerror(errno)))"
            }
        }

        /// An instruction that may solve the problem.
        package var hint: String {
            switch code {
            case .wrongMode: "chmod 600 \(path); or remove it, and log in again"
            case .system: "check the folder and the free space, or name another folder by XDG_STATE_HOME"
            }
        }
    }

    package let path: String
    private var sessions: [Session] = []
    /// The secrets that were found to be right since the file was read, by their hashes. They need not be hashed again,
    /// which takes more than a millisecond.
    private var secrets: [String: String] = [:]
    /// The properties of the file when ``sessions`` was read from it: ``fileState()``.
    private var state: [Int64] = []

    /// - Parameter path: The path of the file. Its folder is created if necessary.
    package init(path: String) { self.path = path }

    /// Returns the sessions and codes that have not ended, after reading the file again if it has changed.
    package mutating func current(at now: RecordTime) throws(Failure) -> [Session] {
        let newState = try fileState()
        if newState != state || newState.isEmpty {
            sessions = newState.isEmpty ? [] : try read()
            (state, secrets) = (newState, [:])
        }
        return sessions.filter { now < $0.ends }
    }

    /// Returns the session of a token; nil if the token is wrong, or the session has ended or was revoked.
    mutating func session(of token: String, isCode: Bool, at now: RecordTime) throws(Failure) -> Session? {
        guard let (id, secret) = Session.parts(of: token) else { return nil }
        let session = try current(at: now).first { $0.id == id && $0.isCode == isCode }
        // After the clock was set back by more than a minute, nobody knows whether the session has ended.
        guard let session, session.began.milliseconds <= now.milliseconds + 60_000 else { return nil }
        if let known = secrets[session.hash], Session.areEqual(known, secret) { return session }
        guard session.hasSecret(secret) else { return nil }
        secrets[session.hash] = secret
        return session
    }

    /// Adds a session or a code, and returns its token.
    package mutating func add(isCode: Bool, mayCommand: Bool, at now: RecordTime) throws(Failure) -> String {
        let (session, token) = Session.new(isCode: isCode, mayCommand ? .command : .see, at: now)
        try change(at: now) { $0.append(session) }
        return token
    }

    /// Exchanges a one-time code for a new session and its token; nil if the code is wrong, used or too old.
    mutating func exchange(code: String, at now: RecordTime) throws(Failure) -> (session: Session, token: String)? {
        guard let found = try session(of: code, isCode: true, at: now) else { return nil }
        let (session, token) = Session.new(isCode: false, found.scope, at: now)
        var isFirst = false
        try change(at: now) { sessions in
            guard let index = sessions.firstIndex(where: { $0.id == found.id && $0.isCode }) else { return }
            isFirst = true
            sessions[index] = session
        }
        return isFirst ? (session, token) : nil
    }

    /// Ends the session or code with this ID, or all of them if `id` is `all`. Returns the number of those ended.
    package mutating func revoke(_ id: String, at now: RecordTime) throws(Failure) -> Int {
        var count = 0
        try change(at: now) { sessions in
            let rest = sessions.filter { id != "all" && $0.id != id }
            count = sessions.count - rest.count
            sessions = rest
        }
        return count
    }

    // MARK: The file

    private func failure(_ code: Failure.Code = .system) -> Failure {
        Failure(code: code, path: path, errno: Glibc.errno)
    }

    /// The properties that change with the file's content; empty if there is no file.
    private func fileState() throws(Failure) -> [Int64] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return [] }
            throw failure()
        }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else { throw failure(.wrongMode) }
        return [
            Int64(status.st_ino), Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        ]
    }

    private func read() throws(Failure) -> [Session] {
        guard let file = fopen(path, "re") else { throw failure() }
        defer { fclose(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 14))
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard ferror(file) == 0 else { throw failure() }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            (try? JSONValue(Array(line), size: 4096)).flatMap(Session.init)
        }
    }

    /// Creates the folder of the file, and those above it, for this user alone. Does nothing where they exist, or can't be
    /// created.
    package func makeFolder() {
        let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
        var part = folder.hasPrefix("/") ? "" : "."
        for name in folder.split(separator: "/") {
            part += "/\(name)"
            mkdir(part, 0o700)
        }
    }

    /// Changes the file. Blocks the thread while another program changes it. A new file with the whole content replaces
    /// the old one, so a full disk loses nothing.
    private mutating func change(at now: RecordTime, by edit: (inout [Session]) -> Void) throws(Failure) {
        makeFolder()
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw failure() }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw failure() }
        var all = try current(at: now)
        edit(&all)
        let text = all.map { "\($0.json)\n" }.joined()
        let new = "\(path).new"
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw failure() }
        let isDone =
            fputs(text, file) >= 0 && fflush(file) == 0 && fsync(descriptor) == 0 && rename(new, path) == 0
        let failure = failure()
        fclose(file)
        guard isDone else {
            unlink(new)
            throw failure
        }
        (sessions, state, secrets) = (all, try fileState(), [:])
    }
}
