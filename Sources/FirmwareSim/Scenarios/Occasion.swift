/// The occasion of a fault or a scenario step, as users type it: `always`, `start`, `5%`, `30s`, `command:3`,
/// `line:STATUS`.
///
/// A unit is a line, or 64 bytes of a longer line; over BLE, a notification; for a fault in received commands, a
/// command.
enum Occasion: Sendable, Hashable {
    case always
    /// Each time a host opens the line or a central subscribes; for the fault `noise`, also after each reset.
    case start
    /// In each unit with this probability, above 0 and at most 1.
    case chance(Double)
    /// Once, this time after the fault or step was given; a fault then waits for the next unit. The text must end with
    /// `ms`, `s`, `m` or `h`.
    case time(Duration)
    /// Once, after the command of this number has begun to arrive. The first command after the fault or step was given
    /// has the number 1.
    case command(Int)
    /// In each unit that begins with these bytes.
    case line([UInt8])

    /// Parses an occasion; nil if the text is not an occasion.
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
            // A bare number may be meant as a probability, or as the number of a command.
            guard Double(text) == nil, let time = SimulatorOption.time(text) else { return nil }
            self = .time(time)
        }
    }

    /// Parses a percentage, as a fraction of 1; nil if the text is not a percentage.
    static func share(_ text: String) -> Double? {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent.isFinite else { return nil }
        return percent / 100
    }

    private static func rest(of text: String, behind prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
}

/// Decides whether an occasion has come, from the commands, the time, and random numbers.
struct OccasionWatch: Sendable {
    let occasion: Occasion
    /// The instant at which the fault or step was given.
    private let orderedAt: Duration
    /// The number of commands that have begun to arrive since then.
    private var commands = 0
    /// Whether the awaited command has come, and no unit has begun since.
    private var isDue = false
    /// Whether an occasion that comes only once has come.
    private var isSpent = false

    init(_ occasion: Occasion, at instant: Duration) {
        self.occasion = occasion
        orderedAt = instant
    }

    /// Records that a command has begun to arrive.
    mutating func noteCommand() {
        commands += 1
        if case .command(commands) = occasion, !isSpent { isDue = true }
    }

    /// The instant of a timed occasion; nil if the occasion is not timed, or has come.
    var time: Duration? { if case .time(let time) = occasion, !isSpent { orderedAt + time } else { nil } }

    /// Returns whether the occasion has come for a unit that begins now. An occasion that comes only once is then
    /// spent. For `line:`, the caller compares the bytes.
    ///
    /// - Parameter chance: A random number from 0 to 1.
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
