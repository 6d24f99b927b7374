/// An action of people or the environment on a running device, and its occasion: `OCCASION VERB [ARGUMENT…]`, such as
/// `10s temperature skin 41`.
///
/// The occasion is a time, `command:3`, `line:OK`, or a probability in each line or notification of the device, such as
/// `5%`. The verb is a verb of the device, `fault`, `reset`, or `set`. The last argument may contain spaces.
public struct ScenarioStep: Sendable, Hashable {
    let occasion: Occasion
    let verb: String
    let arguments: String
    /// The step as typed.
    let text: String

    /// Parses a step. The verb is checked only when the step is added to a device.
    init(_ text: some StringProtocol) throws(WrongPart) {
        let words = String(text).split(separator: " ", maxSplits: 2).map(String.init)
        // `always` and `start` are occasions of faults only.
        guard let first = words.first, let occasion = Occasion(first), occasion != .always, occasion != .start else {
            throw WrongPart(text, .occasion(words.first ?? ""))
        }
        guard words.count > 1 else { throw WrongPart(text, .noVerb) }
        self.occasion = occasion
        verb = words[1]
        arguments = words.count > 2 ? words[2] : ""
        self.text = String(text)
    }

    /// Whether the step happens by chance.
    public var isByChance: Bool { if case .chance = occasion { true } else { false } }

    /// The separator of the steps in a text.
    static let separator: Character = "\n"

    /// Parses steps, one per line.
    ///
    /// - Throws: ``WrongPart`` for the first step that is invalid.
    static func steps(_ text: String) throws(WrongPart) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for line in text.split(separator: separator) { steps.append(try ScenarioStep(line)) }
        return steps
    }
}
