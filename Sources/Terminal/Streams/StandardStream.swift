internal import Glibc
internal import Synchronization

/// A standard stream of the program, and the capabilities of its terminal.
public enum StandardStream: CInt, Sendable, Hashable, CaseIterable {
    /// Standard input.
    case input = 0
    /// Standard output, for results.
    case output = 1
    /// Standard error, for messages to people.
    case error = 2

    /// A bit for each stream, by its number, that ``openMissing()`` found to be no terminal: a file, a pipe or
    /// /dev/null.
    private static let files = Atomic<Int32>(0)

    /// The device number of /dev/null on Linux: major 1, minor 3 (Documentation/admin-guide/devices.txt).
    private static let nullDevice: dev_t = 0x103

    /// Whether the stream may be a terminal, as far as this is known without a system call.
    var mayBeTerminal: Bool { Self.files.load(ordering: .relaxed) & 1 << rawValue == 0 }

    /// Whether the stream is a terminal.
    public var isTerminal: Bool { mayBeTerminal && isatty(rawValue) == 1 }

    /// Whether the stream is a terminal and may be coloured.
    public var isColoured: Bool { isTerminal && Self.mayColour }

    /// Whether the stream is a terminal with a movable cursor, so that lines can be redrawn.
    public var canMoveCursor: Bool { isTerminal && !["", "dumb"].contains(Self.variable("TERM") ?? "") }

    /// Whether output to a terminal may be coloured: the terminal is not `dumb`, and NO_COLOR (no-color.org) is unset
    /// or empty.
    public static var mayColour: Bool { mayColour(variable) }

    static func mayColour(_ variable: (_ name: String) -> String?) -> Bool {
        (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
    }

    /// Returns the value of an environment variable; nil if the variable is not set.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Writes the whole text without a buffer, so that a program at the other end of a pipe receives each line without
    /// delay. The call waits for the reader; a caller that must not wait uses a ``StreamWriter``.
    ///
    /// - Parameter text: The text to write.
    /// - Returns: The errno of a failed write; nil on success.
    @discardableResult
    public func write(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: rawValue) }
    }

    /// Writes all bytes to a descriptor.
    ///
    /// - Returns: The errno of a failed write; nil on success.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            // A program that shares the stream may have made it non-blocking.
            if count < 0 && errno == EAGAIN {
                var writable = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
                poll(&writable, 1, -1)
            } else if count < 0 && errno != EINTR {
                return errno
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
        }
        return nil
    }

    /// Opens missing standard streams on /dev/null. Otherwise a port or socket could get such a stream's number, and
    /// receive messages meant for people. A missing standard output is opened for reading only, so that writing results
    /// still fails.
    public static func openMissing() {
        for (stream, mode) in [(Self.input, O_RDONLY), (.output, O_RDONLY), (.error, O_WRONLY)] {
            var status = stat()
            if fstat(stream.rawValue, &status) == 0 {
                let isNull = status.st_rdev == nullDevice
                if isNull || status.st_mode & S_IFMT != S_IFCHR {
                    files.bitwiseOr(1 << stream.rawValue, ordering: .relaxed)
                }
            } else if errno == EBADF {
                // open(2) returns the lowest free number, which is this stream's.
                _ = open("/dev/null", mode)
            }
        }
    }
}
