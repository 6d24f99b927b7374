internal import Glibc
internal import Synchronization

/// A device's lock, held by this program until it is released or let go.
///
/// flock(2) ends with its process, so that a program that is killed leaves nothing locked. The file is never removed: a
/// program that had opened it before would lock one that nobody else finds.
final class DeviceLock: Sendable {
    /// What the owner before this one has left in the file.
    let inherited: DeviceLockNote?
    private let uptime: @Sendable () -> Duration
    /// Negative once it is released.
    private let file: Mutex<CInt>

    /// Takes over the descriptor of a file that is locked.
    init(_ file: CInt, as note: DeviceLockNote, uptime: @escaping @Sendable () -> Duration) {
        inherited = DeviceLockNote(in: file)
        self.uptime = uptime
        self.file = Mutex(file)
        note.write(to: file)
    }

    deinit { release(isDisconnecting: true) }

    /// Gives the device to the next program. Releasing twice is allowed.
    ///
    /// - Parameter isDisconnecting: Whether bluetoothd may still be about to disconnect the device: the next one waits for
    ///   that then.
    func release(isDisconnecting: Bool) {
        let file = file.withLock { file in
            defer { file = -1 }
            return file
        }
        guard file >= 0 else { return }
        (isDisconnecting ? DeviceLockNote.closing(at: uptime()) : .free).write(to: file)
        // By name: a process that was forked just now has the descriptor too, until it comes to its exec(2).
        flock(file, LOCK_UN)
        close(file)
    }
}

/// What an owner of a device tells the others, as the first line of the lock's file.
///
/// Other users may write there what they like: it decides how long somebody waits, and nothing else.
enum DeviceLockNote: Hashable {
    /// It has the device for as long as it likes.
    case lasting
    /// It has the device for one command.
    case brief
    /// It has left the device at that time since the computer was started; bluetoothd may be about to disconnect it.
    case closing(at: Duration)
    /// It has left the device, which is disconnected.
    case free

    private static let limit = 64

    /// Reads the note; nil where there is none.
    init?(in file: CInt) {
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
        self.init(bytes)
    }

    /// Reads the first line of `bytes`; what is behind it is left of a longer note.
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

    /// Writes it, where this user may.
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
