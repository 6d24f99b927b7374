import Glibc
import Synchronization

/// The terminal that the program was started from, where it is taken for the device as well.
///
/// A port is put into raw mode and left so, as is the custom. A terminal that is left so neither echoes nor knows Ctrl-C.
final class UserTerminal: Sendable {
    private let settings = Mutex<termios?>(nil)

    /// Notes the settings of the port at `path`, if that is the terminal at one of the standard streams.
    func keepSettings(ifAt path: String) {
        settings.withLock { settings in
            var kept = termios()
            guard settings == nil, let stream = Self.stream(at: path), tcgetattr(stream, &kept) == 0 else { return }
            settings = kept
        }
    }

    /// Puts the settings back, if they were noted.
    func putBack() {
        settings.withLock { settings in
            guard var kept = settings, let stream = Self.streams.first(where: { isatty($0) == 1 }) else { return }
            tcsetattr(stream, TCSADRAIN, &kept)
        }
    }

    private static let streams: [CInt] = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]

    /// The standard stream that is the terminal at `path`.
    private static func stream(at path: String) -> CInt? {
        var node = stat()
        guard stat(path, &node) == 0 else { return nil }
        return streams.first { stream in
            var terminal = stat()
            guard isatty(stream) == 1, fstat(stream, &terminal) == 0 else { return false }
            return path == "/dev/tty" || terminal.st_rdev == node.st_rdev
        }
    }
}
