/// Cuts what arrives into lines and takes them into the conversation.
///
/// A class beside the actor, so that what arrives comes straight here from the link.
final class Listener<Family: DeviceFamily>: @unchecked Sendable {
    // @unchecked: it is touched on the executor of its session only: by the session, and by the link's receiver, which
    // checks that.

    private var framer = LineFramer(limit: Family.lineLimit)
    var conversation = Conversation<Family>()

    /// Whether the line that is heard next is the rest of one that was too long, and begins anywhere in it.
    private var isAmidLine = false

    /// What came of a line whose end has not come.
    var pending: [UInt8] { framer.pending.withoutNULs }

    func take(_ bytes: [UInt8]) {
        framer.append(bytes.span) { line, ending in
            let range = line.rangeWithoutNULs
            if !range.isEmpty { conversation.hear(line.extracting(range), isAmidLine ? .cut : ending) }
            isAmidLine = ending == .cut
        }
    }
}
