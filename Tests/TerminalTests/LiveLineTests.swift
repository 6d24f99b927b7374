import Synchronization
import Terminal
import Testing

@Suite struct LiveLineTests {
    /// Collects the output of a live line.
    private final class Screen: Sendable {
        private let text = Mutex("")

        func write(_ text: String) { self.text.withLock { $0 += text } }

        /// Returns the text written since the last call.
        func take() -> String {
            text.withLock { text in
                defer { text = "" }
                return text
            }
        }
    }

    private let screen = Screen()

    @Test func `A live line is redrawn in place, and news stays above it`() {
        let line = LiveLine(write: screen.write)
        line.show("one")
        #expect(screen.take() == "\r\u{1B}[Kone")
        line.show("two", colour: 32, below: "news")
        #expect(screen.take() == "\r\u{1B}[Knews\n\u{1B}[32mtwo\u{1B}[0m")
    }

    @Test func `A note stays above the last drawn line`() {
        let line = LiveLine(write: screen.write)
        #expect(line.note("first"))
        #expect(screen.take() == "\r\u{1B}[Kfirst\n")
        line.show("on", colour: 32)
        _ = screen.take()
        #expect(line.note("second"))
        #expect(screen.take() == "\r\u{1B}[Ksecond\n\u{1B}[32mon\u{1B}[0m")
    }

    @Test func `An ended live line draws nothing more`() {
        let line = LiveLine(write: screen.write)
        line.show("on")
        _ = screen.take()
        line.end()
        #expect(screen.take() == "\n")
        line.show("off")
        line.end()
        #expect(!line.note("late"))
        #expect(screen.take() == "")
    }

    @Test func `Ending a line that was never drawn writes nothing`() {
        LiveLine(write: screen.write).end()
        #expect(screen.take() == "")
    }
}
