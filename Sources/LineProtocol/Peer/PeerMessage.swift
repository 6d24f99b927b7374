/// A message for the people at a peer: one line of text that the peer does not take for a command.
public struct PeerMessage: Sendable, Hashable {
    /// The reason why a text can't be sent as a message.
    public enum Flaw: Error, Sendable, Hashable {
        /// The text is empty, or only spaces.
        case empty
        /// The text contains a line end, which would make it several messages.
        case severalLines
        /// The peer takes the text for a command.
        case isCommand
    }

    /// The texts that a peer takes for commands, in capitals.
    private static let commands: Set<String> = ["ON", "OFF", "GET", "GET_IMAGE"]

    /// The text.
    public let text: String

    /// The number of characters of the message that the peer shows.
    public var shownCharacterCount: Int { min(text.count, PeerText.shownCharacters) }

    /// Creates a message from a text.
    ///
    /// - Throws: ``Flaw`` if the text can't be sent as a message.
    public init(_ text: String) throws(Flaw) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(where: { $0 == .lineFeed || $0 == .carriageReturn }) else { throw .severalLines }
        // Some peers trim spaces before they look for a command.
        let words = text.split(separator: " ")
        guard let first = words.first else { throw .empty }
        guard words.count > 1 || !Self.commands.contains(first.uppercased()) else { throw .isCommand }
        self.text = text
    }
}
