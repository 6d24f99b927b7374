/// A message for the people at a peer: one line that the peer takes for nothing else.
public struct PeerMessage: Sendable, Hashable {
    /// Why a text can't be sent as a message.
    public enum Flaw: Error, Sendable, Hashable {
        case empty
        /// It has a line end in it, which would make it several.
        case severalLines
        /// The peer takes it for a command.
        case isCommand
    }

    /// What a peer does not take for a message, in capitals.
    private static let commands: Set<String> = ["ON", "OFF", "GET", "GET_IMAGE"]

    /// The text.
    public let text: String

    /// How many of its characters the peer shows.
    public var shownCharacterCount: Int { min(text.count, PeerText.shownCharacters) }

    /// The message of that text.
    public init(_ text: String) throws(Flaw) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(where: { $0 == .lineFeed || $0 == .carriageReturn }) else { throw .severalLines }
        // A peer may trim what it gets, or not.
        let words = text.split(separator: " ")
        guard let first = words.first else { throw .empty }
        guard words.count > 1 || !Self.commands.contains(first.uppercased()) else { throw .isCommand }
        self.text = text
    }
}
