public import DeviceKit
public import LineProtocol

/// Speaks with one device over one link, for all who share it: their lines go to the device one after another, and what the
/// device answers goes to who asked.
///
/// It ends with its link; for the link that follows there is another.
public protocol Speaker: AnyObject, Sendable {
    /// What the device says unasked, and the end of the link. For one reader.
    var speech: AsyncStream<Speech> { get }

    /// The values that are known of the device, by the keys of ``DeviceKit/Family/state``.
    func values() async -> [String: StateValue]

    /// Sends a line of a client in its turn, and hands over the device's answer.
    ///
    /// A line that makes the device safe goes before all others, and what waits behind it that would change the device is
    /// dropped.
    ///
    /// - Parameters:
    ///   - line: The line, without its end.
    ///   - answer: Gets the answer, in one piece or, where it is long, in many; what comes next is not asked of the device
    ///     before it returns.
    /// - Throws: `refused` is thrown behind the answer, which has told the client so; else why there is no answer.
    func perform(_ line: [UInt8], answer: @escaping Answer) async throws(SessionError)

    /// Takes the answer of the device, with its line ends.
    typealias Answer = @Sendable (_ bytes: [UInt8]) async -> Void

    /// Ends it, and closes the link.
    func close() async
}

/// What a device says that answers nobody, or everybody.
public enum Speech: Sendable {
    /// A line for all who share the device, or several, with their ends.
    case said([UInt8])
    /// The link is lost; nothing follows.
    case lost(LinkError)
}
