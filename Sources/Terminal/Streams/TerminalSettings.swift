internal import Glibc
internal import Synchronization

/// The original settings of the terminals at the standard streams.
///
/// A program that takes control of its terminal saves the settings first and restores them before it ends, even if a
/// signal ends it. A terminal left in raw mode neither echoes nor handles Ctrl-C.
public enum TerminalSettings {
    private static let saved = Mutex<[StandardStream: termios]>([:])

    /// Saves the present settings of a stream's terminal. Does nothing if earlier settings were saved and not restored.
    ///
    /// - Parameter stream: The stream.
    public static func save(_ stream: StandardStream = .input) {
        saved.withLock { saved in
            var settings = termios()
            guard saved[stream] == nil, tcgetattr(stream.rawValue, &settings) == 0 else { return }
            saved[stream] = settings
        }
    }

    /// Saves the settings of the terminal at `path`, if it is the terminal of a standard stream: a program that opens
    /// that terminal as a serial port by mistake puts it in raw mode.
    ///
    /// - Parameter path: The path of a port that is about to be opened.
    public static func save(ifAt path: String) {
        if let stream = stream(at: path) { save(stream) }
    }

    /// Restores the saved settings of a stream. A second call does nothing.
    ///
    /// - Parameter stream: The stream; nil for all.
    public static func restore(_ stream: StandardStream? = nil) {
        // Output written so far is drained first (TCSADRAIN), except to a stalled terminal, which would never drain.
        let moment = StreamWriter.areStalled ? TCSANOW : TCSADRAIN
        saved.withLock { saved in
            for (kept, settings) in saved where stream ?? kept == kept {
                var settings = settings
                tcsetattr(kept.rawValue, moment, &settings)
                saved[kept] = nil
            }
        }
    }

    /// Returns the standard stream whose terminal is at `path`; nil if there is none.
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
