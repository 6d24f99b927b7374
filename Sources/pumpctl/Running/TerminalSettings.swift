import Glibc
import Synchronization

/// The settings that the terminal on standard input had before a command changed them.
enum TerminalSettings {
    private static let saved = Mutex<termios?>(nil)

    /// Keeps the settings as they are now.
    static func save() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        saved.withLock { $0 = settings }
    }

    /// Puts back what was kept, if anything was; a second call does nothing.
    static func restoreSaved() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
            saved = nil
        }
    }
}
