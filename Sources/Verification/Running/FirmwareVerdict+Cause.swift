extension FirmwareVerdict {
    /// A sentence on the cause that at least three failures, and at least half of all failures, have in common; nil if
    /// there is none.
    public var commonCause: String? {
        let failures = results.filter(\.isFailure)
        func cause(_ count: Int, _ words: String) -> String? {
            guard count >= 3, count * 2 >= failures.count else { return nil }
            return "\(count) of \(failures.count) failed checks have the same cause: \(words)"
        }
        let echoes = failures.count(where: \.hasHeardItself)
        if let echo = cause(echoes, "the device echoes commands") { return echo }
        let counts = Dictionary(failures.compactMap(\.got).map { ($0, 1) }, uniquingKeysWith: +)
        return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.flatMap { cause($0.value, $0.key) }
    }
}

extension CheckResult {
    /// The observed behaviour without times, which differ from check to check.
    fileprivate var got: String? {
        guard case .failed(_, let got) = outcome else { return nil }
        return got.replacing(#/^at [0-9.]+ s: | in [0-9.]+ m?s\b/#, with: "")
    }

    /// Whether the device sent a command back as its next line.
    fileprivate var hasHeardItself: Bool {
        zip(steps, steps.dropFirst()).contains { step, next in
            guard case .sent(let command) = step, case .received(let line) = next else { return false }
            let word = command.drop { $0 == 0x0A }.prefix { $0 != 0x0A && $0 != 0x0D }
            return !word.isEmpty && word.elementsEqual(line)
        }
    }
}
