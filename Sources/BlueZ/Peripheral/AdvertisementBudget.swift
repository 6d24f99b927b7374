/// The space that an advertisement takes in its packets.
///
/// A legacy advertisement holds 31 bytes, and the scan response, which centrals request, holds 31 more. bluetoothd puts
/// the name into the scan response. If a part does not fit, bluetoothd only reports "Failed to parse advertisement."
public struct AdvertisementBudget: Sendable, Hashable {
    /// The capacity of either packet in bytes.
    public static let capacity = 31
    /// The length limit of the name in bytes of UTF-8.
    public static let longestName = capacity - header
    /// The size of the length and type bytes at the beginning of each part of a packet.
    private static let header = 2

    /// A part of a packet.
    public struct Part: Sendable, Hashable {
        /// The name of the part, for people.
        public let name: String
        /// The size in bytes, including the length and type bytes.
        public let length: Int
    }

    /// The parts of the advertisement, which centrals receive without a request.
    public let advertisement: [Part]
    /// The parts of the scan response, which centrals request.
    public let scanResponse: [Part]

    /// Creates the budget of an advertisement with a name, services, and the flags that every advertisement has.
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

    /// Whether all parts fit.
    public var fits: Bool { excess(advertisement) <= 0 && excess(scanResponse) <= 0 }

    private func excess(_ parts: [Part]) -> Int { parts.reduce(0) { $0 + $1.length } - Self.capacity }

    /// Checks that all parts fit.
    ///
    /// - Parameter activity: The operation, for the error.
    /// - Throws: ``BLEError`` with ``BLEError/Code/invalidArgument`` if the advertisement or the name is too long.
    public func check(activity: String) throws(BLEError) {
        let excess = excess(advertisement)
        if excess > 0 {
            let parts = advertisement.map { "\($0.name) \($0.length)" }.joined(separator: ", ")
            throw BLEError(
                .invalidArgument,
                message: "the advertisement is \(excess) bytes longer than \(Self.capacity): \(parts)",
                activity: activity,
                hint: "advertise fewer services: a central finds the others once it is connected")
        }
        let length = (scanResponse.first?.length ?? Self.header) - Self.header
        if length > Self.longestName {
            throw BLEError(
                .invalidArgument,
                message: "the name has \(length) bytes; the limit is \(Self.longestName)",
                activity: activity, hint: "choose a shorter name; a letter beyond ASCII takes 2 to 4 bytes")
        }
    }
}
