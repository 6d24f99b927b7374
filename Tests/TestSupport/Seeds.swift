internal import Glibc

/// The seeds of a test that generates its input: a small fixed set in each run, and many fresh ones in a soak.
///
/// The environment variable `SEEDS` chooses:
///
/// | `SEEDS` | seeds |
/// | --- | --- |
/// | not set | 0 up to `count`, the same in each run |
/// | `1234` | this one; a test prints its steps |
/// | `0-9999` | these, regardless of the test's own count |
/// | `1234+` | as many as a soak takes, from this one on; `make soak` draws a fresh number each time, and prints it |
public struct Seeds: Sequence, Sendable {
    /// The seeds, in ascending order. At least one.
    public let range: Range<UInt64>

    /// - Parameters:
    ///   - count: The number of seeds in an ordinary run; at least 1.
    ///   - soak: The number of seeds in a soak; at least 1.
    public init(_ count: Int, soak: Int) { self.init(count, soak: soak, from: Self.choice) }

    init(_ count: Int, soak: Int, from choice: Choice) {
        range =
            switch choice {
            case .fixed: 0..<UInt64(count)
            case .range(let range): range
            case .soak(let first): first..<first + UInt64(soak)
            }
    }

    /// A Boolean value that indicates whether a single seed was chosen, in order to see the test's steps.
    public var isSingle: Bool { range.count == 1 }

    /// Splits the seeds into at most `pieces` ranges of about the same size, for parallel tests.
    public func pieces(_ pieces: Int) -> [Range<UInt64>] {
        let size = Int((UInt64(range.count) + UInt64(pieces) - 1) / UInt64(pieces))
        return stride(from: range.lowerBound, to: range.upperBound, by: size)
            .map { $0..<Swift.min(range.upperBound, $0 + UInt64(size)) }
    }

    public func makeIterator() -> Range<UInt64>.Iterator { range.makeIterator() }

    /// Returns the number of repetitions in a test: `amount` in an ordinary run, `soak` in a soak.
    public static func amount(_ amount: Int, soak: Int) -> Int {
        if case .soak = choice { soak } else { amount }
    }

    /// The meaning of `SEEDS`.
    enum Choice: Equatable {
        case fixed
        case range(Range<UInt64>)
        case soak(from: UInt64)

        /// Parses `text`; nil if it has no form that is listed in ``Seeds``.
        init?(_ text: String) {
            // Limited to 32 bits, so that adding a count can't overflow.
            let numbers = text.split(separator: "-", omittingEmptySubsequences: false)
                .map { UInt32($0).map(UInt64.init) }
            if text.hasSuffix("+"), let first = UInt32(text.dropLast()) {
                self = .soak(from: UInt64(first))
            } else if numbers.count == 1, let seed = numbers[0] {
                self = .range(seed..<seed + 1)
            } else if numbers.count == 2, let first = numbers[0], let last = numbers[1], first <= last {
                self = .range(first..<last + 1)
            } else {
                return nil
            }
        }
    }

    private static let choice: Choice = {
        guard let text = getenv("SEEDS").map({ String(cString: $0) }), !text.isEmpty else { return .fixed }
        guard let choice = Choice(text) else { fatalError("SEEDS=\(text): write 1234, 0-9999 or 1234+") }
        return choice
    }()
}
