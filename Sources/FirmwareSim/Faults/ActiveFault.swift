/// A fault that a device has: what was ordered, and what has become of it.
struct ActiveFault: Sendable {
    /// How far into a unit a fault falls at most, in bytes. In a shorter one it falls on the last.
    private static let reach = 24

    let order: FaultOrder
    private var watch: OccasionWatch
    private var random: SeededRandom
    /// Where it falls in the unit that goes on; nil for nowhere.
    private var position: Int?

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
    /// - Parameter length: How many bytes it has; nil where that shows only at its end.
    mutating func beginUnit(at instant: Duration, length: Int? = nil) {
        // Drawn in any case: what a unit becomes must not depend on what another was.
        let (chance, offset) = (random.share(), random.number(below: max(1, length ?? Self.reach)))
        position = watch.comes(at: instant, chance: chance) ? (order.fault.effect.fallsOnBeginning ? 0 : offset) : nil
        if case .line(let beginning) = order.occasion { position = beginning.count }
    }

    /// Whether it falls on the next byte of a unit, which may be its last one.
    mutating func falls(on unit: FaultyUnit, isLast: Bool) -> Bool {
        guard let position, unit.bytes.count >= position || isLast else { return false }
        if case .line(let beginning) = order.occasion, !unit.bytes.starts(with: beginning) { return false }
        self.position = nil
        return true
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
