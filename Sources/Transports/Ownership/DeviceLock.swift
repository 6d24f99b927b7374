internal import Glibc
internal import Synchronization

/// A lock on a device, held until ``release(isDisconnecting:)`` or the end of this object.
///
/// The kernel releases flock(2) when the process ends, so a killed program leaves no lock behind. The lock file is
/// never removed: a program that has opened the removed file would lock a file that no other program finds.
final class DeviceLock: Sendable {
    /// The note that the file held before this lock wrote its own; nil if there was none.
    let inherited: DeviceLockNote?
    private let uptime: @Sendable () -> Duration
    /// The descriptor of the lock file; negative after the release.
    private let file: Mutex<CInt>

    /// Takes ownership of the descriptor of a locked file, and writes the note.
    init(_ file: CInt, as note: DeviceLockNote, uptime: @escaping @Sendable () -> Duration) {
        inherited = DeviceLockNote(in: file)
        self.uptime = uptime
        self.file = Mutex(file)
        note.write(to: file)
    }

    deinit { release(isDisconnecting: true) }

    /// Releases the lock for the next program. Releasing twice is allowed.
    ///
    /// - Parameter isDisconnecting: Whether bluetoothd may still be disconnecting the device. The next owner then waits
    ///   for the disconnection.
    func release(isDisconnecting: Bool) {
        let file = file.withLock { file in
            defer { file = -1 }
            return file
        }
        guard file >= 0 else { return }
        (isDisconnecting ? DeviceLockNote.closing(at: uptime()) : .free).write(to: file)
        // Unlock explicitly: a child process that was just forked shares the descriptor until its exec(2).
        flock(file, LOCK_UN)
        close(file)
    }
}

/// The note of a device's owner for other programs: the first line of the lock file.
///
/// Any user may write to the file. The note only decides how long other programs wait.
enum DeviceLockNote: Hashable {
    /// The owner holds the device for an unlimited time.
    case lasting
    /// The owner holds the device for one command.
    case brief
    /// The owner left the device at this time since boot. bluetoothd may still be disconnecting it.
    case closing(at: Duration)
    /// The owner left the device, and bluetoothd is not disconnecting it.
    case free

    /// The number of bytes read from a file, more than any note has.
    private static let limit = 64

    /// Reads the note of a file; nil if there is no valid one.
    init?(in file: CInt) {
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
        self.init(bytes)
    }

    /// Parses the first line of `bytes`; nil if it is no note. The bytes after it may remain from a longer note.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
        let words = bytes[..<end].split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        switch words.first {
        case "lasting": self = .lasting
        case "brief": self = .brief
        case "free": self = .free
        case "closing":
            guard words.count == 2, let milliseconds = Int64(words[1]), milliseconds >= 0 else { return nil }
            self = .closing(at: .milliseconds(milliseconds))
        default: return nil
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .lasting: Array("lasting\n".utf8)
        case .brief: Array("brief\n".utf8)
        case .free: Array("free\n".utf8)
        case .closing(let time): Array("closing \(time.wholeMilliseconds)\n".utf8)
        }
    }

    /// Writes the note. Does nothing if this user may not write to the file.
    func write(to file: CInt) {
        _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
