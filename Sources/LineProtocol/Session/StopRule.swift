/// The way to make a device of a family safe, whatever else happens.
///
/// The bytes of this module's families are in `StopTable`.
public struct StopRule<Family: DeviceFamily>: Sendable {
    /// The command that makes the device safe. A session replaces it by the caller's own command, which errors name.
    public internal(set) var command: Family.Command
    /// The bytes of the command, for one write.
    public let bytes: [UInt8]
    /// The reply for the caller, once the device's status says that the device is safe.
    public let reply: Family.Reply
    /// Returns whether a message acknowledges the command.
    public let isAcknowledgement: @Sendable (Family.Message) -> Bool
    /// Returns whether a message reports that somebody has undone the command. An acknowledgement after such a message
    /// does not count until the command is sent again.
    public let isUndone: @Sendable (Family.Message) -> Bool
    /// Returns the unsafe state that a reply to ``DeviceFamily/statusQuery`` names, as the device writes it; nil if the
    /// device is safe.
    public let unsafeState: @Sendable (Family.Reply) -> String?

    /// Creates a rule from its parts.
    public init(
        _ command: Family.Command, bytes: [UInt8], reply: Family.Reply,
        isAcknowledgement: @escaping @Sendable (Family.Message) -> Bool,
        isUndone: @escaping @Sendable (Family.Message) -> Bool,
        unsafeState: @escaping @Sendable (Family.Reply) -> String?
    ) {
        self.command = command
        self.bytes = bytes
        self.reply = reply
        self.isAcknowledgement = isAcknowledgement
        self.isUndone = isUndone
        self.unsafeState = unsafeState
    }
}
