public import DeviceKit
public import LineProtocol

/// The exchange of lines with one device over one link on behalf of all clients. Lines with a reply are sent one after
/// another, and each reply goes to its asker.
///
/// A speaker ends with its link; the next link gets a new speaker. Output of the device is passed on in the order of
/// its arrival.
public protocol Speaker: AnyObject, Sendable {
    /// Returns the known values of the device's state, by the keys of `Family.state`.
    func values() async -> [String: StateValue]

    /// Returns the times since the device reported its values, by the same keys. A value without a time was reported
    /// at an unknown time.
    func ages() -> [String: Duration]

    /// Sends a client's line in its turn, and passes the device's reply to the asker.
    ///
    /// A stop line goes before all other lines. Lines that would change the device, and that still wait when the stop
    /// line comes, fail with `overtaken`.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - asker: The receiver of the reply.
    /// - Throws: `refused` if the device refused the line; unless the line is a stop line, the asker has then received
    ///   the refusal. Otherwise the reason why there is no complete reply.
    func perform(_ line: ClientLine, for asker: Asker) async throws(SessionError)

    /// Ends the speaker and closes the link.
    func close() async
}

/// Receives unsolicited output and the loss of the link; called on the link's executor.
public typealias SpeechReceiver = @Sendable (Speech) -> Void

/// Output of a device that is not the reply to one client.
public enum Speech: Sendable {
    /// Output for all clients: lines with line ends, or any bytes of a raw device. `tellsState` is true if the output
    /// reports the device's state, and always true in a family without state.
    case said([UInt8], tellsState: Bool = true)
    /// The link is lost. Nothing follows.
    case lost(LinkError)
}

/// The sender of a line, which receives the reply.
public struct Asker: Sendable {
    /// Receives a part of the reply, with its line ends, and whether this part reports the device's state. Called on
    /// the link's executor.
    public let tell: @Sendable (_ bytes: [UInt8], _ tellsState: Bool) -> Void
    /// Waits until the asker can take more of a long reply, has read nothing for too long, or is no longer connected.
    public let waitForRoom: @Sendable () async -> Void
    /// Whether the asker is still connected; called on the link's executor.
    public let isThere: @Sendable () -> Bool
    /// Whether the line may still be sent; called on the link's executor just before sending.
    public let isDue: @Sendable () -> Bool
    /// Whether the line, if it is a query, goes before the lines of other clients except stop lines. True for a client
    /// that has just sent a stop line, whose effect the query may check.
    public let goesFirst: Bool

    /// Creates an asker.
    ///
    /// - Parameters:
    ///   - tell: Receives a part of the reply, with line ends, and whether this part reports the device's state.
    ///   - waitForRoom: Waits until the asker can take more of a long reply, has read nothing for too long, or is no
    ///     longer connected.
    ///   - isThere: Whether the asker is still connected.
    ///   - isDue: Whether the line may still be sent; nil for `isThere`.
    ///   - goesFirst: Whether the line, if it is a query, goes before the lines of other clients except stop lines.
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
