import Synchronization

/// What one who follows a device has shown, in order.
final class UpdateLog: Sendable {
    enum Entry: Sendable, Hashable {
        /// This.
        case shown(String)
        /// That it does not know.
        case unknown
        /// That the device is lost, or does not answer.
        case trouble
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }

    /// What is to be said of all of it, where `truth` is so at the end.
    ///
    /// - Parameter told: What lines of the device have said, in order: each update shows what one of them has said.
    func conclude(by truth: String, told: [String]) -> Outcome {
        let entries = entries.withLock { $0 }
        var rest = told[...]
        for case .shown(let value) in entries {
            guard let index = rest.firstIndex(of: value) else {
                return .failed("\(entries) is shown, and what came is \(told)")
            }
            rest = rest[index...]
        }
        switch entries.last {
        case .shown(let value):
            guard told.last == value else { return .failed("\(value) is shown, and what came is \(told)") }
            guard value == truth else { return .undetectable }
            return entries.contains(.trouble) ? .recovered : .done
        case .unknown, .trouble: return .reported
        case nil: return .failed("nothing is shown")
        }
    }
}
