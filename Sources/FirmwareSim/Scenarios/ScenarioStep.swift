/// What people and the world do to a device while it runs, and when: `OCCASION VERB [ARGUMENT…]`, as `10s temperature skin 41`.
///
/// The occasion is a time, `command:3`, `line:OK`, or a chance in each line, as `5%`. The verbs are those of the device, and
/// `reset`. The last argument may have spaces.
public struct ScenarioStep: Sendable, Hashable {
    let occasion: Occasion
    let verb: String
    let arguments: String
    /// As it was written.
    let text: String

    /// The step that a text is; nil where it is none. Whether the device has the verb shows only where there is a device.
    init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count > 1, let occasion = Occasion(String(words[0])) else { return nil }
        if case .always = occasion { return nil }
        if case .start = occasion { return nil }
        self.occasion = occasion
        verb = String(words[1])
        arguments = words.count > 2 ? String(words[2]) : ""
        self.text = String(text)
    }

    /// Whether it happens by chance.
    public var isByChance: Bool { if case .chance = occasion { true } else { false } }

    /// What separates the steps of a text.
    static let separator: Character = "\n"

    /// The steps of a text, one a line; nil where one is none.
    static func steps(_ text: String) -> [ScenarioStep]? {
        let lines = text.split(separator: separator)
        let steps = lines.compactMap { ScenarioStep($0) }
        return steps.count == lines.count ? steps : nil
    }
}
