import Synchronization

/// The updates shown by a follower of a device, in order.
final class UpdateLog: Sendable {
    enum Entry: Sendable, Hashable {
        /// A shown value.
        case shown(String)
        /// An unknown state.
        case unknown
        /// A lost or unresponsive device.
        case trouble
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }

    /// Judges the whole log.
    ///
    /// - Parameters:
    ///   - truth: The device's true value at the end.
    ///   - told: The values that were delivered, in order. The shown values must be among them in the same order; a
    ///     delivered value may be shown more than once.
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
