/// Cuts received bytes into lines, and passes them to the conversation.
///
/// This is a class outside of the actor, so that the link delivers bytes to it directly.
final class Listener<Family: DeviceFamily>: @unchecked Sendable {
    // @unchecked: used on the executor of its session only, by the session and by the link's receiver, which checks the
    // executor.

    private var framer = LineFramer(limit: Family.lineLimit)
    var conversation = Conversation<Family>()

    /// Whether the next line is the rest of an overlong one, and therefore begins in the middle of it.
    private var isAmidLine = false

    /// The bytes of the line that has not ended.
    var pending: [UInt8] { framer.pending.withoutNULs }

    func take(_ bytes: [UInt8]) {
        framer.append(bytes.span) { line, ending in
            let range = line.rangeWithoutNULs
            if !range.isEmpty { conversation.hear(line.extracting(range), isAmidLine ? .cut : ending) }
            isAmidLine = ending == .cut
        }
    }
}
