import Glibc

/// The standard streams that the program was started without.
enum StandardStreams {
    /// Opens those that are closed: a port or a socket that gets the number of one would be sent what is meant for people.
    /// Results that are written to a standard output that was closed still fail.
    static func open() {
        for (stream, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free is the stream's.
            _ = Glibc.open("/dev/null", mode)
        }
    }
}
