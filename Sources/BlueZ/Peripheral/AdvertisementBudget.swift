/// What an advertisement takes of the room that a packet has.
///
/// A legacy advertisement has 31 bytes, and the scan response that a central asks for has 31 more. bluetoothd puts the
/// name there, and says no more than "Failed to parse advertisement." where something does not fit.
public struct AdvertisementBudget: Sendable, Hashable {
    /// What either packet holds, in bytes.
    public static let capacity = 31
    /// The longest name, in bytes of UTF-8.
    public static let longestName = capacity - header
    /// The length and the type of each part of a packet.
    private static let header = 2

    /// One part of a packet.
    public struct Part: Sendable, Hashable {
        /// What it is, in words.
        public let name: String
        /// What it takes, in bytes, with its length and type.
        public let length: Int
    }

    /// What centrals hear without asking.
    public let advertisement: [Part]
    /// What they are told when they ask.
    public let scanResponse: [Part]

    /// The budget of an advertisement with a name and services, and with the flags that every one has.
    public init(name: String?, services: [BluetoothUUID]) {
        var parts = [Part(name: "flags", length: Self.header + 1)]
        for length in [2, 4, 16] {
            let count = services.count { $0.advertisedLength == length }
            guard count > 0 else { continue }
            let words = "\(count) UUID\(count == 1 ? "" : "s") of \(length * 8) bits"
            parts.append(Part(name: words, length: Self.header + count * length))
        }
        advertisement = parts
        scanResponse = name.map { [Part(name: "the name", length: Self.header + $0.utf8.count)] } ?? []
    }

    /// Whether all of it fits.
    public var fits: Bool { excess(advertisement) <= 0 && excess(scanResponse) <= 0 }

    private func excess(_ parts: [Part]) -> Int { parts.reduce(0) { $0 + $1.length } - Self.capacity }

    /// - Throws: ``BLEError`` with ``BLEError/Code/invalidArgument``, which says what is too long, and by how much.
    public func check(activity: String) throws(BLEError) {
        let excess = excess(advertisement)
        if excess > 0 {
            let parts = advertisement.map { "\($0.name) \($0.length)" }.joined(separator: ", ")
            throw BLEError(
                .invalidArgument,
                message: "the advertisement is \(excess) bytes too long for its \(Self.capacity): \(parts)",
                activity: activity,
                hint: "advertise fewer services: a central finds the others once it is connected")
        }
        let length = (scanResponse.first?.length ?? Self.header) - Self.header
        if length > Self.longestName {
            throw BLEError(
                .invalidArgument,
                message: "the name takes \(length) bytes, and an advertisement has room for \(Self.longestName)",
                activity: activity, hint: "choose a shorter name; a letter beyond ASCII takes 2 to 4 bytes")
        }
    }
}
