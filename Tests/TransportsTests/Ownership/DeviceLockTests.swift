import Glibc
import LineProtocol
import Synchronization
import TestSupport
import Testing

@testable import Transports

@Suite("Device locks")
struct DeviceLockTests {
    private let folder = TemporaryFolder()

    private func locks(_ folders: [String]? = nil) -> DeviceLocks {
        DeviceLocks(folders: folders ?? [folder.path("locks")], uptime: { .seconds(100) })
    }

    private func take(_ locks: DeviceLocks, as note: DeviceLockNote = .lasting) throws -> DeviceLock {
        guard case .taken(let lock) = locks.attempt("device", as: note) else { throw NotTaken() }
        return lock
    }

    private struct NotTaken: Error {}

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `A held lock names its owner, and is free once released`() throws {
        let first = try take(locks())
        guard case .held(let holder?, note: .lasting) = locks().attempt("device", as: .brief) else {
            Issue.record("it is not held")
            return
        }
        #expect(holder.processID == getpid())
        #expect(!holder.command.isEmpty && "\(holder)" == "\(holder.command) (pid \(getpid()))")
        guard case .taken = locks().attempt("another", as: .brief) else {
            Issue.record("another device is held too")
            return
        }
        first.release(isDisconnecting: false)
        first.release(isDisconnecting: false)
        #expect(try take(locks()).inherited == .free)
    }

    @Test func `A lock that is dropped without a release leaves a note of a possible disconnection`() throws {
        _ = try take(locks())
        #expect(try take(locks()).inherited == .closing(at: .seconds(100)))
    }

    @Test func `The lock of a killed program is free`() async throws {
        let path = folder.path("locks/device")
        _ = try take(locks())
        let other = try await ChildProcess(["flock", "--no-fork", path, "sh", "-c", "echo locked; read x"])
        _ = try await other.output.text(upTo: "locked\n")
        guard case .held(let holder?, _) = locks().attempt("device", as: .brief) else {
            Issue.record("it is not held")
            return
        }
        #expect(holder == LinkHolder(processID: other.processID, command: "sh"))
        other.send(signal: SIGKILL)
        _ = try await other.ending()
        _ = try take(locks())
    }

    @Test func `Lock folder and lock file are open to all users, whatever the umask`() throws {
        _ = try take(locks())
        #expect(mode(folder.path("locks")) == 0o1777)
        #expect(mode(folder.path("locks/device")) == 0o666)
    }

    /// Simulates `fs.protected_regular=2`, which applies to root too, in a folder such as /tmp.
    @Test func `An existing lock file is opened without O_CREAT, so that another user's file works`() throws {
        _ = try take(locks())
        let attempts = Mutex<[CInt]>([])
        var locks = locks()
        locks.openFile = { folder, name, flags, mode in
            attempts.withLock { $0.append(flags) }
            guard flags & O_CREAT == 0 else {
                errno = EACCES
                return -1
            }
            return openat(folder, name, flags, mode)
        }
        _ = try take(locks)
        #expect(attempts.withLock { $0.count } == 1)
    }

    @Test func `A lock needs no write permission on its file`() throws {
        try take(locks()).release(isDisconnecting: false)
        var locks = locks()
        locks.openFile = { folder, name, flags, mode in
            guard flags & O_ACCMODE == O_RDONLY else {
                errno = EACCES
                return -1
            }
            return openat(folder, name, flags, mode)
        }
        let lock = try take(locks)
        guard case .held = locks.attempt("device", as: .brief) else {
            Issue.record("it is not held")
            return
        }
        lock.release(isDisconnecting: true)
        // The lock could not write the note of a disconnection to its file.
        #expect(try take(locks).inherited == .free)
    }

    @Test func `A lock file that another program creates at the same time is writable`() throws {
        var locks = locks()
        locks.openFile = { folder, name, flags, mode in
            // The other program creates the file between the two attempts.
            if flags & O_EXCL != 0 { close(openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC, mode)) }
            return openat(folder, name, flags, mode)
        }
        try take(locks).release(isDisconnecting: false)
        #expect(try take(self.locks()).inherited == .free)
    }

    @Test func `An unusable lock folder is skipped, and without any folder locks are unavailable`() throws {
        let file = folder.write("", to: "file")
        let target = folder.path("elsewhere")
        try folder.makeFolder("elsewhere")
        symlink(target, folder.path("link"))
        let useless = ["/proc/nowhere/folder", file, folder.path("link"), "/proc/pumpctl"]
        _ = try take(locks(useless + [folder.path("last")]))
        #expect(mode(folder.path("last/device")) == 0o666)
        #expect(access(target + "/device", F_OK) != 0)
        guard case .unavailable = locks(useless).attempt("device", as: .lasting) else {
            Issue.record("a folder was used")
            return
        }
    }

    @Test func `A symbolic link, a hard link or a pipe in place of the lock file is refused`() throws {
        try folder.makeFolder("locks")
        let victim = folder.write("precious\n", to: "victim")
        for plant in [
            { symlink(victim, folder.path("locks/device")) }, { link(victim, folder.path("locks/device")) },
            { mkfifo(folder.path("locks/device"), 0o666) },
        ] {
            #expect(plant() == 0)
            guard case .unavailable = locks().attempt("device", as: .lasting) else {
                Issue.record("it was locked")
                return
            }
            unlink(folder.path("locks/device"))
        }
        let text = open(victim, O_RDONLY)
        defer { close(text) }
        #expect(DeviceLockNote(in: text) == nil)
    }

    @Test func `A lock file removed while locked does not lock out later programs`() throws {
        let first = try take(locks())
        unlink(folder.path("locks/device"))
        let second = try take(locks())
        first.release(isDisconnecting: false)
        guard case .held = locks().attempt("device", as: .lasting) else {
            Issue.record("it is not held")
            return
        }
        second.release(isDisconnecting: false)
    }

    @Test(arguments: [true, false])
    func `A lock file removed before it is locked is opened again`(isMadeAnew: Bool) throws {
        _ = try take(locks())
        let attempts = Mutex(0)
        var locks = locks()
        locks.openFile = { folder, name, flags, mode in
            let file = openat(folder, name, flags, mode)
            let isFirst = attempts.withLock { attempts in
                attempts += 1
                return attempts == 1
            }
            guard isFirst else { return file }
            unlinkat(folder, name, 0)
            if isMadeAnew { close(openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)) }
            return file
        }
        let lock = try take(locks)
        guard case .held = self.locks().attempt("device", as: .lasting) else {
            Issue.record("it is not held")
            return
        }
        lock.release(isDisconnecting: false)
    }

    @Test(arguments: [
        // Only the first line counts: a note is written over the previous one, whose end may remain.
        ("lasting\n", DeviceLockNote.lasting), ("brief\nng 100000\n", .brief), ("free\n", .free),
        ("closing 100500\n", .closing(at: .milliseconds(100_500))), ("closing\n", nil), ("closing -1\n", nil),
        ("closing 99999999999999999999\n", nil), ("closing 1 2\n", nil), ("brief", nil), ("", nil), ("\n", nil),
        ("\u{FFFD}\n", nil),
    ])
    func `A lock's note is one valid line`(text: String, note: DeviceLockNote?) {
        #expect(DeviceLockNote(Array(text.utf8)) == note)
        if let note { #expect(DeviceLockNote(note.bytes) == note) }
    }
}
