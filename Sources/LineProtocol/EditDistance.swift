/// A measure of the difference between two words, for hints that suggest a known word.
package enum EditDistance {
    /// Returns the least number of letters to insert, delete, or replace to make one word from the other (Levenshtein
    /// distance).
    package static func of(_ one: String, _ other: String) -> Int {
        let other = Array(other)
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (letter == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }

    /// Returns the known word that is nearest to `word`, in any letter case; nil if even its distance exceeds half the
    /// length of `word` (or 1, if that is more) and it does not begin with `word`.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let word = word.lowercased()
        let distances = known.map { (of(word, $0.lowercased()), $0) }
        guard let best = distances.min(by: { $0.0 < $1.0 }) else { return nil }
        return best.0 <= max(1, word.count / 2) || best.1.lowercased().hasPrefix(word) && !word.isEmpty ? best.1 : nil
    }
}
