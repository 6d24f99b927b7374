internal import Glibc
internal import Synchronization

/// The settings that the terminals at the standard streams had before the program changed them.
///
/// A program that takes over its terminal saves them first and restores them before it ends, also where a signal ends it.
/// A terminal that is left in raw mode neither echoes nor knows Ctrl-C.
public enum TerminalSettings {
    private static let saved = Mutex<[StandardStream: termios]>([:])

    /// Keeps the settings of a stream's terminal as they are now. What was kept before and not restored counts.
    public static func save(_ stream: StandardStream = .input) {
        saved.withLock { saved in
            var settings = termios()
            guard saved[stream] == nil, tcgetattr(stream.rawValue, &settings) == 0 else { return }
            saved[stream] = settings
        }
    }

    /// Keeps those of the terminal at `path`, if that is the one at a standard stream: a program that opens it for a serial
    /// port, by mistake, puts it into raw mode.
    public static func save(ifAt path: String) {
        if let stream = stream(at: path) { save(stream) }
    }

    /// Puts back what was kept of a stream, or of all, if anything was; a second call does nothing.
    public static func restore(_ stream: StandardStream? = nil) {
        // Behind what was written with them; a terminal that takes no more would never be through with that.
        let moment = StreamWriter.areStalled ? TCSANOW : TCSADRAIN
        saved.withLock { saved in
            for (kept, settings) in saved where stream ?? kept == kept {
                var settings = settings
                tcsetattr(kept.rawValue, moment, &settings)
                saved[kept] = nil
            }
        }
    }

    /// The standard stream that is the terminal at `path`.
    private static func stream(at path: String) -> StandardStream? {
        var node = stat()
        guard stat(path, &node) == 0 else { return nil }
        return StandardStream.allCases.first { stream in
            var terminal = stat()
            guard stream.isTerminal, fstat(stream.rawValue, &terminal) == 0 else { return false }
            return path == "/dev/tty" || terminal.st_rdev == node.st_rdev
        }
    }
}
