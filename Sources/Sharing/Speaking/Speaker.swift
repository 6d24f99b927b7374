public import DeviceKit
public import LineProtocol

/// Speaks with one device over one link, for all who share it: their lines go to the device one after another, and what the
/// device answers goes to who asked.
///
/// It ends with its link; for the link that follows there is another. Everybody is told everything in the order in which the
/// device says it: what it said first must not be taken for news.
public protocol Speaker: AnyObject, Sendable {
    /// The values that are known of the device, by the keys of ``DeviceKit/Family/state``.
    func values() async -> [String: StateValue]

    /// Sends a line of a client in its turn, and hands over the device's answer.
    ///
    /// A line that makes the device safe goes before all others, and what waits behind it that would change the device is
    /// dropped.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - asker: Is told the answer.
    /// - Throws: `refused` is thrown behind the answer, which has told the client so; else why there is no answer.
    func perform(_ line: ClientLine, for asker: Asker) async throws(SessionError)

    /// Ends it, and closes the link.
    func close() async
}

/// Takes what the device says unasked, and the end of the link; called on the link's executor.
public typealias SpeechReceiver = @Sendable (Speech) -> Void

/// What a device says that answers nobody, or everybody.
public enum Speech: Sendable {
    /// A line for all who share the device, or several, with their ends; and whether any tells of the device's state.
    case said([UInt8], tellsState: Bool = true)
    /// The link is lost; nothing follows.
    case lost(LinkError)
}

/// One who has sent a line, and is told the answer.
public struct Asker: Sendable {
    /// Takes some of the answer, with its line ends, and whether it tells of the device's state; called on the link's executor.
    public let tell: @Sendable (_ bytes: [UInt8], _ tellsState: Bool) -> Void
    /// Waits until there is room for more of a long answer.
    public let waitForRoom: @Sendable () async -> Void
    /// Whether it has not left meanwhile; called on the link's executor.
    public let isThere: @Sendable () -> Bool
    /// Whether its line may still be sent; called on the link's executor right before that.
    public let isDue: @Sendable () -> Bool
    /// Whether what it asks goes before the questions of others: it has just had the device made safe, and makes sure.
    public let goesFirst: Bool

    /// One who is told by `tell`.
    public init(
        tell: @escaping @Sendable (_ bytes: [UInt8], _ tellsState: Bool) -> Void,
        waitForRoom: @escaping @Sendable () async -> Void = {},
        isThere: @escaping @Sendable () -> Bool = { true }, isDue: (@Sendable () -> Bool)? = nil,
        goesFirst: Bool = false
    ) {
        self.tell = tell
        self.waitForRoom = waitForRoom
        self.isThere = isThere
        self.isDue = isDue ?? isThere
        self.goesFirst = goesFirst
    }
}
