import LineProtocol

/// What a word that is not known was probably meant to be.
enum Spelling {
    /// The one of `known` that is most like `word`, in any letter case; nil where none is like it.
    static func nearest(to word: String, among known: [String]) -> String? {
        let word = word.lowercased()
        let distances = known.map { (EditDistance.of(word, $0.lowercased()), $0) }
        guard let best = distances.min(by: { $0.0 < $1.0 }) else { return nil }
        return best.0 <= max(1, word.count / 2) || best.1.lowercased().hasPrefix(word) && !word.isEmpty ? best.1 : nil
    }
}
