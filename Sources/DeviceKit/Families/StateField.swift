/// A field of a device's state.
public struct StateField: Sendable, Hashable {
    /// The key for programs and records, with the unit, if there is one, at its end: `skin_temp_c`.
    public var key: String
    /// The label for people: `skin`.
    public var label: String
    /// The possible values. A ``StateValue/number(_:)`` outside its range counts as a sensor fault: programs get null,
    /// and records contain no value.
    public var value: ValueRange
    /// The unit for people; nil if there is none.
    public var unit: String?
    /// The word for an unknown value in output for programs; nil for null.
    public var unknownWord: String?
    /// Whether the value is recorded. Values that follow from other fields are not recorded.
    public var isRecorded: Bool
    /// The judgements of a number, from the lowest: a number has the first one that reaches up to it. Empty if numbers
    /// are not judged.
    public var levels: [Level]

    /// Creates a field.
    public init(
        _ key: String, _ label: String, _ value: ValueRange, unit: String? = nil, unknownWord: String? = nil,
        isRecorded: Bool = true, levels: [Level] = []
    ) {
        self.key = key
        self.label = label
        self.value = value
        self.unit = unit
        self.unknownWord = unknownWord
        self.isRecorded = isRecorded
        self.levels = levels
    }

    /// A judgement of the numbers above the previous level, up to ``upTo``.
    public struct Level: Sendable, Hashable {
        /// The severity of a level for the person who watches the device.
        public enum Grade: String, Sendable, Hashable, CaseIterable {
            /// As it should be.
            case good
            /// Worth a look.
            case warning
            /// A problem that the person should end.
            case bad
        }

        /// The highest number of the level, in the field's unit; nil for all numbers above.
        public var upTo: Double?
        /// The judgement in a word or two, for people: `too warm`. Empty if there is nothing to say.
        public var word: String
        /// The severity.
        public var grade: Grade

        /// Creates a level.
        public init(upTo: Double? = nil, _ word: String, _ grade: Grade) {
            self.upTo = upTo
            self.word = word
            self.grade = grade
        }
    }
}

extension StateField {
    /// Whether the value counts as measured, as every ``ValueRange/number(_:)`` does: a broken sensor may deliver an
    /// impossible number.
    public var isMeasured: Bool { if case .number = value { true } else { false } }

    /// Whether `value` is believable. A number must be within the field's range; a value of another type is always
    /// believable.
    public func isPlausible(_ value: StateValue) -> Bool {
        guard case .number(let number) = value, case .number(let range) = self.value else { return true }
        return range.contains(number)
    }

    /// Returns `value` with its unit, for people: `12.5 °C`, `on`. An implausible number is shown as a sensor fault.
    public func text(of value: StateValue) -> String {
        let bare =
            switch value {
            case .number(let number): "\(number)"
            case .integer(let number): "\(number)"
            case .boolean(let isOn): isOn ? "on" : "off"
            case .text(let text): text
            }
        let text = bare + (unit.map { " \($0)" } ?? "")
        return isPlausible(value) ? text : "sensor fault (reads \(text))"
    }
}
