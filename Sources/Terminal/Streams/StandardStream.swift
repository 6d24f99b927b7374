internal import Glibc
internal import Synchronization

/// One of the three streams that a program is started with, and what a terminal at it can do.
public enum StandardStream: CInt, Sendable, Hashable, CaseIterable {
    /// Standard input.
    case input = 0
    /// Standard output: results.
    case output = 1
    /// Standard error: notes for people.
    case error = 2

    /// The streams, by the bits of their numbers, that were files, pipes or /dev/null when the program began: no terminals.
    private static let files = Atomic<Int32>(0)

    /// Linux has numbers 1, 3 for /dev/null (Documentation/admin-guide/devices.txt).
    private static let nullDevice: dev_t = 0x103

    /// Whether it may be a terminal, as far as this is known without asking the system.
    var mayBeTerminal: Bool { Self.files.load(ordering: .relaxed) & 1 << rawValue == 0 }

    /// Whether it is a terminal.
    public var isTerminal: Bool { mayBeTerminal && isatty(rawValue) == 1 }

    /// Whether it is a terminal that may be coloured.
    public var isColoured: Bool { isTerminal && Self.mayColour }

    /// Whether it is a terminal on which a line can be drawn again.
    public var canMoveCursor: Bool { isTerminal && !["", "dumb"].contains(Self.variable("TERM") ?? "") }

    /// Whether a terminal may be coloured: it has colours, and NO_COLOR (no-color.org) is not set or empty.
    public static var mayColour: Bool { mayColour(variable) }

    static func mayColour(_ variable: (_ name: String) -> String?) -> Bool {
        (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
    }

    /// A variable of the environment.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Writes at once and whole, so that a program at the other end of a pipe sees each line when it is said. It waits for
    /// whoever reads: what must not wait writes by a ``StreamWriter``.
    ///
    /// - Returns: The errno of a write that failed; nil where all was written.
    @discardableResult
    public func write(_ text: String) -> Int32? {
        var text = text
        return text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: rawValue) }
    }

    /// Writes bytes whole to a descriptor.
    ///
    /// - Returns: The errno of a write that failed; nil where all was written.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
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

    /// Opens the streams that the program was started without, to nothing: a port or a socket that gets the number of one
    /// would be sent what is meant for people. Results that are written to a standard output that was closed still fail.
    public static func openMissing() {
        for (stream, mode) in [(Self.input, O_RDONLY), (.output, O_RDONLY), (.error, O_WRONLY)] {
            var status = stat()
            if fstat(stream.rawValue, &status) == 0 {
                let isNull = status.st_rdev == nullDevice
                if isNull || status.st_mode & S_IFMT != S_IFCHR {
                    files.bitwiseOr(1 << stream.rawValue, ordering: .relaxed)
                }
            } else if errno == EBADF {
                // The lowest number that is free is the stream's.
                _ = open("/dev/null", mode)
            }
        }
    }
}
