/// A fault that a device has: what was ordered, and what has become of it.
struct ActiveFault: Sendable {
    /// How far into a unit a fault falls at most, in bytes. In a shorter one it falls on the last.
    private static let reach = 24

    let order: FaultOrder
    private var watch: OccasionWatch
    private var random: SeededRandom
    /// Where it falls in the unit that goes on; nil for nowhere.
    private var position: Int?
    /// What the unit that goes on has to begin with, where that is yet to show; nil for anything.
    private var awaited: [UInt8]?

    /// - Parameter stream: Tells faults of one seed apart.
    init(_ order: FaultOrder, seed: UInt64, stream: UInt64, at instant: Duration) {
        self.order = order
        watch = OccasionWatch(order.occasion, at: instant)
        random = SeededRandom(seed: seed, stream: stream)
    }

    /// A command has begun to come.
    mutating func noteCommand() { watch.noteCommand() }

    /// A unit begins.
    ///
    /// - Parameters:
    ///   - bytes: The whole unit, where that is known at its beginning, as of a notification.
    ///   - length: How many bytes it has; nil where that shows only at its end.
    mutating func beginUnit(at instant: Duration, bytes: [UInt8]? = nil, length: Int? = nil) {
        let length = length ?? bytes?.count
        // Drawn in any case: what a unit becomes must not depend on what another was.
        let (chance, offset) = (random.share(), random.number(below: max(1, length ?? Self.reach)))
        let fallsOnBeginning = order.fault.effect.fallsOnBeginning
        position = watch.comes(at: instant, chance: chance) ? (fallsOnBeginning ? 0 : offset) : nil
        guard case .line(let beginning) = order.occasion else { return }
        if let bytes {
            position = bytes.starts(with: beginning) ? (fallsOnBeginning ? 0 : beginning.count) : nil
        } else {
            (position, awaited) = (beginning.count, beginning)
        }
    }

    /// Whether it falls on a byte of a unit, which may be its last one.
    mutating func falls(at offset: Int, isLast: Bool) -> Bool {
        guard let position, offset >= position || isLast else { return false }
        self.position = nil
        return true
    }

    /// Whether it falls on the next byte of a unit that the device says, which may be its last one.
    mutating func falls(on byte: UInt8, of unit: FaultyUnit, isLast: Bool) -> Bool {
        // The last byte may be the one that makes the unit begin so.
        if let awaited, !(unit.bytes.prefix(awaited.count) + [byte]).starts(with: awaited) { return false }
        return falls(at: unit.bytes.count, isLast: isLast)
    }

    /// A number of 0 up to, but not including, `bound`.
    mutating func number(below bound: Int) -> Int { random.number(below: bound) }
}

extension Fault.Effect {
    fileprivate var fallsOnBeginning: Bool {
        switch self {
        case .pause(let inside): !inside
        case .gather, .noise, .repeatUnit, .loseUnit, .trickle, .repeatReply, .stick: true
        default: false
        }
    }

    /// Whether it falls on what the device is told, and not on what it says.
    var isOfCommands: Bool { [.overrun, .repeatReply, .hangUp].contains(self) }
}
