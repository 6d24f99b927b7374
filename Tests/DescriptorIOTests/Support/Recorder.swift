import Synchronization

/// Events in order, from any thread.
final class Recorder<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])
    var values: [Element] { state.withLock { $0 } }
    func append(_ value: Element) { state.withLock { $0.append(value) } }
}
