internal import Glibc

/// One of the three streams that a program is started with, and what a terminal at it can do.
public enum StandardStream: CInt, Sendable, Hashable, CaseIterable {
    /// Standard input.
    case input = 0
    /// Standard output: results.
    case output = 1
    /// Standard error: notes for people.
    case error = 2

    /// Whether it is a terminal.
    public var isTerminal: Bool { isatty(rawValue) == 1 }

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
        for (stream, mode) in [(Self.input, O_RDONLY), (.output, O_RDONLY), (.error, O_WRONLY)]
        where fcntl(stream.rawValue, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free is the stream's.
            _ = open("/dev/null", mode)
        }
    }
}
