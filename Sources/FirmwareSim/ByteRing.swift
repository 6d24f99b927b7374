/// A first-in, first-out buffer that never holds more than its capacity.
struct ByteRing: Sendable {
    private var slots: [UInt8]
    private var head = 0
    private(set) var count = 0

    init(capacity: Int) {
        slots = Array(repeating: 0, count: capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// Appends `byte`. Returns `false` and changes nothing if the ring is full.
    mutating func append(_ byte: UInt8) -> Bool {
        guard count < slots.count else { return false }
        slots[(head + count) % slots.count] = byte
        count += 1
        return true
    }

    mutating func popFirst() -> UInt8? {
        guard count > 0 else { return nil }
        let byte = slots[head]
        head = (head + 1) % slots.count
        count -= 1
        return byte
    }

    func contains(_ isSuch: (UInt8) -> Bool) -> Bool {
        (0..<count).contains { isSuch(slots[(head + $0) % slots.count]) }
    }

    mutating func removeAll() {
        head = 0
        count = 0
    }
}
