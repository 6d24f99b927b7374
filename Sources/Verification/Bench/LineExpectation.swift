/// What a line should be: a text, or a form that has a name.
struct LineExpectation: Sendable, ExpressibleByStringLiteral {
    let name: String
    let fits: @Sendable (String) -> Bool

    init(_ name: String, _ fits: @escaping @Sendable (String) -> Bool) {
        self.name = name
        self.fits = fits
    }

    /// Exactly this text.
    init(stringLiteral text: String) { self.init(text) { $0 == text } }

    /// A line with this beginning.
    static func begin(_ text: String) -> LineExpectation { LineExpectation(text + "…") { $0.hasPrefix(text) } }
}
