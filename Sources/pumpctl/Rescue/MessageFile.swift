import Glibc
import LineProtocol
import Synchronization

/// The messages of this user, in a file that only grows: a line for each message, and one for each that was handed on.
///
/// What was stored is on the disk before that is said. Several programs may use it at once: each holds a lock while it
/// reads or writes. A line that a power cut left unfinished gives way to the next.
final class MessageFile: RescueStore {
    /// `$XDG_DATA_HOME/pumpctl/messages.jsonl`, by default in `~/.local/share`; nil where the environment has neither.
    static var standardPath: String? {
        func folder(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = folder("XDG_DATA_HOME") ?? folder("HOME").map { $0 + "/.local/share" }
        return home.map { $0 + "/pumpctl/messages.jsonl" }
    }

    private enum Line {
        case message(RescueID)
        case synced(RescueID)
    }

    /// What was read of the file.
    private struct Index {
        var statuses: [RescueID: RescueStatus] = [:]
        var end = 0
        /// Whether behind that is the beginning of a line.
        var hasTornEnd = false
    }

    let path: String
    private let descriptor: CInt
    private let index = Mutex(Index())

    /// Opens the file at `path`, and makes it and its folder where they are not there.
    init(path: String?) throws(RescueStoreError) {
        guard let path else {
            throw RescueStoreError(.noPlace, name: "the messages", activity: "open", detail: "HOME is not set")
        }
        self.path = path
        try Self.makeFolder(of: path)
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RescueStoreError(errno: errno, path, "open") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func makeFolder(of path: String) throws(RescueStoreError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let folder = String(path[..<slash])
        if access(folder, F_OK) == 0 { return }
        try makeFolder(of: folder)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw RescueStoreError(errno: errno, folder, "make") }
    }

    // MARK: RescueStore

    func insertNew(_ messages: [RescueMessage]) async throws(RescueStoreError) -> [RescueMessage] {
        if messages.isEmpty { return [] }
        return try await locked { [self] index throws(RescueStoreError) in
            var new: [RescueMessage] = []
            var lines: [UInt8] = []
            var newIDs: Set<RescueID> = []
            for message in messages where index.statuses[message.id] == nil && newIDs.insert(message.id).inserted {
                new.append(message)
                var pending = message
                pending.status = .pendingSync
                lines += pending.json + [0x0A] + (message.status == .synced ? Self.mark(message.id) : [])
            }
            try append(lines, to: &index)
            for message in new { index.statuses[message.id] = message.status }
            return new
        }
    }

    func markSynced(_ ids: [RescueID]) async throws(RescueStoreError) {
        try await locked { [self] index throws(RescueStoreError) in
            let pending = ids.filter { index.statuses[$0] == .pendingSync }
            try append(pending.flatMap(Self.mark), to: &index)
            for id in pending { index.statuses[id] = .synced }
        }
    }

    func messages(_ status: RescueStatus?) async throws(RescueStoreError) -> [RescueMessage] {
        try await locked { [self] index throws(RescueStoreError) in
            var messages: [RescueMessage] = []
            var seen: Set<RescueID> = []
            _ = try read(from: 0) { line in
                guard case .message(let id) = Self.meaning(of: line), let known = index.statuses[id],
                    status == nil || known == status, var message = try? RescueMessage(json: line),
                    seen.insert(id).inserted
                else { return }
                message.status = known
                messages.append(message)
            }
            return messages
        }
    }

    // MARK: The file

    /// Runs `body` while no other program has the file, and with all that others have added read.
    ///
    /// Not on the thread of the event loop: a disk may be slow.
    private func locked<Value: Sendable>(
        _ body: @escaping @Sendable (inout Index) throws(RescueStoreError) -> Value
    ) async throws(RescueStoreError) -> Value {
        let work = Task(executorPreference: globalConcurrentExecutor) { () -> Result<Value, RescueStoreError> in
            do throws(RescueStoreError) { return .success(try self.lockedAtOnce(body)) } catch {
                return .failure(error)
            }
        }
        return try await work.value.get()
    }

    private func lockedAtOnce<Value>(
        _ body: (inout Index) throws(RescueStoreError) -> Value
    ) throws(RescueStoreError) -> Value {
        try index.withLock { index throws(RescueStoreError) in
            while flock(descriptor, LOCK_EX) != 0 {
                guard errno == EINTR else { throw RescueStoreError(errno: errno, path, "lock") }
            }
            defer { flock(descriptor, LOCK_UN) }
            let end = try read(from: index.end) { line in
                switch Self.meaning(of: line) {
                // The rest of the line is read where the messages are asked for.
                case .message(let id) where index.statuses[id] == nil: index.statuses[id] = .pendingSync
                case .synced(let id): index.statuses[id] = .synced
                default: break
                }
            }
            index.end = end.lineEnd
            index.hasTornEnd = end.lineEnd < end.fileEnd
            return try body(&index)
        }
    }

    /// Reads the whole lines from `start` on.
    private func read(
        from start: Int, _ take: ([UInt8]) -> Void
    ) throws(RescueStoreError) -> (lineEnd: Int, fileEnd: Int) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var line: [UInt8] = []
        var (position, lineEnd) = (start, start)
        while true {
            let count = chunk.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, position) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw RescueStoreError(errno: errno, path, "read")
            }
            if count == 0 { return (lineEnd, position) }
            var rest = chunk[..<count]
            while let end = rest.firstIndex(of: 0x0A) {
                line += rest[..<end]
                take(line)
                line.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
                lineEnd = position + rest.startIndex
            }
            line += rest
            position += count
        }
    }

    /// Adds whole lines, and returns once they are on the disk. What nobody was told of being stored gives way.
    private func append(_ bytes: [UInt8], to index: inout Index) throws(RescueStoreError) {
        guard !bytes.isEmpty else { return }
        if index.hasTornEnd, ftruncate(descriptor, index.end) != 0 {
            throw RescueStoreError(errno: errno, path, "write")
        }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno != EINTR { throw RescueStoreError(errno: errno, path, "write") }
            written += max(0, count)
        }
        guard fdatasync(descriptor) == 0 else { throw RescueStoreError(errno: errno, path, "write") }
        index.end += bytes.count
    }

    private static let messagePrefix = Array("{\"id\":\"".utf8)
    private static let syncedPrefix = Array("{\"synced\":\"".utf8)

    private static func mark(_ id: RescueID) -> [UInt8] { syncedPrefix + Array("\(id)\"}\n".utf8) }

    /// What a line is about, by its beginning; nil for what this store has not written.
    private static func meaning(of line: [UInt8]) -> Line? {
        func id(behind prefix: [UInt8]) -> RescueID? {
            RescueID(String(decoding: line.dropFirst(prefix.count).prefix(36), as: UTF8.self))
        }
        guard line.last == UInt8(ascii: "}") else { return nil }
        if line.starts(with: messagePrefix) { return id(behind: messagePrefix).map { .message($0) } }
        if line.starts(with: syncedPrefix) { return id(behind: syncedPrefix).map { .synced($0) } }
        return nil
    }
}

extension RescueStoreError {
    fileprivate init(errno: CInt, _ path: String, _ activity: String) {
        let code: Code =
            switch errno {
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT, EFBIG: .full
            default: .system
            }
        self.init(code, name: path, activity: activity, detail: String(cString: strerror(errno)))
    }
}

extension Failure {
    init(_ error: RescueStoreError) {
        let (status, hint): (ExitStatus, String) =
            switch error.code {
            case .noPlace: (.noInput, "set HOME or XDG_DATA_HOME to a folder of yours")
            case .notPermitted: (.noPermission, "make the folder yours, or name another one by XDG_DATA_HOME")
            case .full: (.ioError, "make room on the disk")
            case .system: (.ioError, "name another folder by XDG_DATA_HOME")
            }
        self.init(status, code: error.code.rawValue, "\(error)", hint: hint)
    }
}
