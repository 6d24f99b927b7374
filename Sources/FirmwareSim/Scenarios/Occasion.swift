/// When something happens to a simulated device, as it is typed: `always`, `start`, `5%`, `30s`, `command:3`, `line:STATUS`.
///
/// A unit is a line, or 64 bytes of a longer one; over BLE, a notification.
enum Occasion: Sendable, Hashable {
    case always
    /// When a host comes, and after a reset.
    case start
    /// In each unit with this chance, above 0 and at most 1.
    case chance(Double)
    /// Once, after this time, which is written with its unit.
    case time(Duration)
    /// Once, after the command of this number, counted from 1.
    case command(Int)
    /// In each unit that begins with these bytes.
    case line([UInt8])

    /// nil where the text is no occasion.
    init?(_ text: String) {
        if text == "always" {
            self = .always
        } else if text == "start" {
            self = .start
        } else if let share = Self.share(text) {
            guard share > 0, share <= 1 else { return nil }
            self = .chance(share)
        } else if let number = Self.rest(of: text, behind: "command:") {
            guard let number = Int(number), number > 0 else { return nil }
            self = .command(number)
        } else if let beginning = Self.rest(of: text, behind: "line:") {
            guard !beginning.isEmpty, beginning.utf8.count <= FaultyUnit.capacity else { return nil }
            self = .line(Array(beginning.utf8))
        } else {
            // A number alone may be meant as a chance, or as a command's number.
            guard Double(text) == nil, let time = SimulatorOption.time(text) else { return nil }
            self = .time(time)
        }
    }

    /// A percentage, as a share of 1; nil where the text is none.
    static func share(_ text: String) -> Double? {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent.isFinite else { return nil }
        return percent / 100
    }

    private static func rest(of text: String, behind prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
}

/// Counts and draws whether an occasion has come.
struct OccasionWatch: Sendable {
    let occasion: Occasion
    private let orderedAt: Duration
    private var commands = 0
    /// Whether the command that it waits for has come.
    private var isDue = false
    /// Whether it has come, where it comes once.
    private var isSpent = false

    init(_ occasion: Occasion, at instant: Duration) {
        self.occasion = occasion
        orderedAt = instant
    }

    /// A command has begun to come.
    mutating func noteCommand() {
        commands += 1
        if case .command(commands) = occasion, !isSpent { isDue = true }
    }

    /// When it comes by itself; nil where it does not, or has.
    var time: Duration? { if case .time(let time) = occasion, !isSpent { orderedAt + time } else { nil } }

    /// Whether it has come for a unit that begins now.
    ///
    /// - Parameter chance: A drawn number from 0 to 1.
    mutating func comes(at instant: Duration, chance: Double) -> Bool {
        switch occasion {
        case .always, .line: return true
        case .start: return false
        case .chance(let share): return chance < share
        case .time(let time):
            guard !isSpent, instant >= orderedAt + time else { return false }
            isSpent = true
            return true
        case .command:
            defer { isDue = false }
            isSpent = isSpent || isDue
            return isDue
        }
    }
}
