import Glibc
import Synchronization

/// What is said on standard error where a second signal ends the program before its work is done.
final class LastWords: Sendable {
    private let text = Mutex<String?>(nil)

    func set(_ text: String?) { self.text.withLock { $0 = text } }

    func say() {
        guard var text = text.withLock({ $0 }) else { return }
        text += "\n"
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
