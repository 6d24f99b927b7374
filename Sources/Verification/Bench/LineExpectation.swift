/// An expected line: an exact text, or a condition with a name for reports.
struct LineExpectation: Sendable, ExpressibleByStringLiteral {
    let name: String
    let fits: @Sendable (String) -> Bool

    init(_ name: String, _ fits: @escaping @Sendable (String) -> Bool) {
        self.name = name
        self.fits = fits
    }

    /// Matches exactly this text.
    init(stringLiteral text: String) { self.init(text) { $0 == text } }

    /// Matches a line that begins with `text`.
    static func begin(_ text: String) -> LineExpectation { LineExpectation(text + "…") { $0.hasPrefix(text) } }
}
