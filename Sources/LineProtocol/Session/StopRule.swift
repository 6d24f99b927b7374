/// How a device of a family is made safe, whatever else goes on.
///
/// A row of ``StopTable`` with what the family knows of its answers.
public struct StopRule<Family: DeviceFamily>: Sendable {
    /// The command.
    public internal(set) var command: Family.Command
    /// What is written for it, in one write.
    public let bytes: [UInt8]
    /// The reply that its caller gets once the device's status says that it is safe.
    public let reply: Family.Reply
    /// Whether a message acknowledges it.
    public let isAcknowledgement: @Sendable (Family.Message) -> Bool
    /// Whether a message says that somebody has undone it: what acknowledges it behind that is of the time before.
    public let isUndone: @Sendable (Family.Message) -> Bool
    /// The state that a reply to ``DeviceFamily/statusQuery`` names, in the device's word; nil if the device is safe.
    public let unsafeState: @Sendable (Family.Reply) -> String?

    /// A rule.
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
