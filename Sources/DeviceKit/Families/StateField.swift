/// Something that can be known of a device.
public struct StateField: Sendable, Hashable {
    /// Its key in what programs are told and in records, with its unit at the end: `skin_temp_c`.
    public var key: String
    /// What people call it: `skin`.
    public var label: String
    /// What it may be. A number out of that range is a sensor's fault, and programs are not told it.
    public var value: ValueRange
    /// Its unit, as people write it; nil where it has none.
    public var unit: String?
    /// The word that programs are told where it is unknown; nil for null.
    public var unknownWord: String?
    /// Whether it is recorded. What follows from other fields is not.
    public var isRecorded: Bool

    /// A field.
    public init(
        _ key: String, _ label: String, _ value: ValueRange, unit: String? = nil, unknownWord: String? = nil,
        isRecorded: Bool = true
    ) {
        self.key = key
        self.label = label
        self.value = value
        self.unit = unit
        self.unknownWord = unknownWord
        self.isRecorded = isRecorded
    }
}

extension StateField {
    /// Whether it is measured, so that a broken sensor may give numbers that can't be.
    public var isMeasured: Bool { if case .number = value { true } else { false } }

    /// Whether `value` can be believed: a number is within the field's range. Others are what the device has said.
    public func isPlausible(_ value: StateValue) -> Bool {
        guard case .number(let number) = value, case .number(let range) = self.value else { return true }
        return range.contains(number)
    }

    /// `value` with its unit, as people read it: `12.5 °C`, `on`.
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
