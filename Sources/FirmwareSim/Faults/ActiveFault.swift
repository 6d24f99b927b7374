/// A fault that a running device has: its order, and whether its occasion has come.
struct ActiveFault: Sendable {
    /// The number of bytes at the beginning of a unit (see ``Fault``) among which a fault falls, if the unit's length
    /// is unknown. In a unit that ends earlier, the fault falls on the last byte. The number is chosen: with a larger
    /// one, faults would mostly fall on the last bytes of short lines.
    private static let reach = 24

    let order: FaultOrder
    private var watch: OccasionWatch
    private var random: SeededRandom
    /// The offset of the fault in the current unit; nil if the fault does not fall in this unit, or has already fallen.
    private var position: Int?
    /// The bytes with which the current unit must begin for the fault to fall; nil if any unit will do, or if the whole
    /// unit was known at its beginning.
    private var awaited: [UInt8]?

    /// - Parameter stream: The random stream, different for each fault of the same seed.
    init(_ order: FaultOrder, seed: UInt64, stream: UInt64, at instant: Duration) {
        self.order = order
        watch = OccasionWatch(order.occasion, at: instant)
        random = SeededRandom(seed: seed, stream: stream)
    }

    /// Records that a command has begun to arrive.
    mutating func noteCommand() { watch.noteCommand() }

    /// Begins a unit, and draws whether and where the fault falls in it.
    ///
    /// - Parameters:
    ///   - bytes: The whole unit, if the unit is known at its beginning, as a notification is; otherwise nil.
    ///   - length: The length of the unit in bytes; nil if the length is known from `bytes`, or only at the unit's end.
    mutating func beginUnit(at instant: Duration, bytes: [UInt8]? = nil, length: Int? = nil) {
        let length = length ?? bytes?.count
        // Draw for every unit: the fate of one unit must not depend on the units before it.
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

    /// Returns whether the fault falls on the byte at `offset`, which may be the last byte of its unit. A fault falls
    /// at most once in a unit.
    mutating func falls(at offset: Int, isLast: Bool) -> Bool {
        guard let position, offset >= position || isLast else { return false }
        self.position = nil
        return true
    }

    /// Returns whether the fault falls on the next byte of a unit of output, which may be the unit's last byte.
    mutating func falls(on byte: UInt8, of unit: FaultyUnit, isLast: Bool) -> Bool {
        // The last byte may be the one that completes the awaited beginning.
        if let awaited, !(unit.bytes.prefix(awaited.count) + [byte]).starts(with: awaited) { return false }
        return falls(at: unit.bytes.count, isLast: isLast)
    }

    /// Returns a random number from 0 up to, but not including, `bound`.
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

    /// Whether the fault falls in commands that the device receives, and not in its output.
    var isOfCommands: Bool { [.overrun, .repeatReply, .hangUp].contains(self) }
}
