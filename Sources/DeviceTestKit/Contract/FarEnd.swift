/// The far end of a link, in the place of the device.
///
/// A ``LinkContract`` sends and receives here while it checks the link. ``DescriptorFarEnd`` is one on a socket or a
/// pseudo-terminal. An implementation for another carrier must not share code with the link, or an error in that code
/// would hide itself.
///
/// Bytes may be sent and received at the same time. A call ends, with any error, when its task is cancelled.
public protocol FarEnd: Sendable {
    /// Sends all of `bytes`, and waits while the carrier has no room.
    ///
    /// - Throws: An error of the carrier, for people.
    func send(_ bytes: [UInt8]) async throws

    /// Sends as many of `bytes` as the carrier accepts while nobody receives.
    ///
    /// - Returns: The number of accepted bytes.
    /// - Throws: An error of the carrier, for people.
    func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int

    /// Waits for input, and returns at least one and at most `count` bytes. Bytes that nobody asks for must stay in the
    /// carrier, so that they hold back the sender.
    ///
    /// - Throws: An error of the carrier, for people; also if the link was closed.
    func receive(upTo count: Int) async throws -> [UInt8]

    /// Waits until a byte has arrived, and leaves it there.
    ///
    /// - Throws: An error of the carrier, for people; also if the link was closed.
    func waitForBytes() async throws

    /// Closes the far end abruptly, like an unplugged device. Further calls of this function do nothing.
    ///
    /// The caller may be on the link's executor, so this function must not block.
    func vanish()
}

extension FarEnd {
    /// The default sends all of `bytes`: for carriers without ``LinkContract/Abilities/holdsFarEndBack``.
    public func sendUntilRefused(_ bytes: [UInt8]) async throws -> Int {
        try await send(bytes)
        return bytes.count
    }

    package func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Receives exactly `count` bytes.
    package func receive(_ count: Int) async throws -> [UInt8] {
        var received: [UInt8] = []
        received.reserveCapacity(count)
        while received.count < count { received += try await receive(upTo: count - received.count) }
        return received
    }

    /// Receives until the input ends with `end`.
    func receive(until end: [UInt8]) async throws -> [UInt8] {
        var received: [UInt8] = []
        while !received.suffix(end.count).elementsEqual(end) { received += try await receive(upTo: 1 << 16) }
        return received
    }
}
