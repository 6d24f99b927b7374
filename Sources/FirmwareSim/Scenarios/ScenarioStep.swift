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

    /// The step that a text is. Whether the device has the verb shows only where there is a device.
    init(_ text: some StringProtocol) throws(WrongPart) {
        let words = String(text).split(separator: " ", maxSplits: 2).map(String.init)
        guard let first = words.first, let occasion = Occasion(first), occasion != .always, occasion != .start else {
            throw WrongPart(text, .occasion(words.first ?? ""))
        }
        guard words.count > 1 else { throw WrongPart(text, .noVerb) }
        self.occasion = occasion
        verb = words[1]
        arguments = words.count > 2 ? words[2] : ""
        self.text = String(text)
    }

    /// Whether it happens by chance.
    public var isByChance: Bool { if case .chance = occasion { true } else { false } }

    /// What separates the steps of a text.
    static let separator: Character = "\n"

    /// The steps of a text, one a line.
    ///
    /// - Throws: The first that is none.
    static func steps(_ text: String) throws(WrongPart) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for line in text.split(separator: separator) { steps.append(try ScenarioStep(line)) }
        return steps
    }
}
