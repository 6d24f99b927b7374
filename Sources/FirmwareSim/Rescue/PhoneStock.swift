internal import FoundationEssentials

/// The messages that a simulated phone has from the start. A seed always gives the same messages, any number of them.
public struct PhoneStock: Sendable, Hashable {
    /// The seed of the messages.
    public let seed: UInt64

    /// Creates the stock of a seed.
    public init(seed: UInt64) { self.seed = seed }

    /// Returns the message with an index. The stock counts from 0; a negative index gives a message outside the stock.
    public func message(_ index: Int) -> PhoneMessage {
        var random = SeededRandom(seed: seed, stream: UInt64(bitPattern: Int64(index)))
        let (high, low) = (random.next(), random.next())
        func byte(_ number: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: (number < 8 ? high : low) >> UInt64(56 - number % 8 * 8))
        }
        let subject = Self.subjects[random.number(below: Self.subjects.count)]
        let place = Self.places[random.number(below: Self.places.count)]
        // The id has the bits of a random UUID (version 4). The coordinates lie within 0.02° in Chapel Hill, as the
        // places do. Every other time has a fraction, as a phone's times have.
        return PhoneMessage(
            id: UUID(
                uuid: (
                    byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0F | 0x40, byte(7),
                    byte(8) & 0x3F | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
                )),
            content: place + " " + subject.text,
            latitude: Double(35_900_000 + Int(random.number(below: 20_000))) / 1_000_000,
            longitude: Double(-79_060_000 + Int(random.number(below: 20_000))) / 1_000_000,
            timestamp: Self.startTime + Double(index) * 60.5,
            status: "pending_sync", category: subject.category)
    }

    /// The time of writing of the first message: 2024-11-02T18:00:00Z.
    static let startTime = Date(timeIntervalSinceReferenceDate: 752_263_200)

    private static let subjects: [(category: String, text: String)] = [
        ("Road Closure", "is closed: a tree lies across it"), ("Flooding", "flooding"),
        ("Flooding", "– \"knee-deep\", and rising 🌊"), ("Shelter", "is open, 40 beds"),
        ("Resource", "has water and blankets"), ("SOS", "three people on the roof"), ("Other", "has power again"),
    ]

    private static let places = [
        "Hamilton Hall", "Franklin Street", "Café Driade", "Bolin Creek", "Manning Drive", "Estes Drive/Route 86",
    ]
}
