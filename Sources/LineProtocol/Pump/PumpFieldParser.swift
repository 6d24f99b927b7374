/// Parses the fields between the braces of a status or temperature line.
///
/// The bytes are parsed in place. Memory is allocated only for fields that are kept as text.
struct PumpFieldParser {
    /// Calls `body` with the name and value of each field in `bytes`, which have the form `name:value,name:value`. The
    /// value of a field without a colon is empty.
    static func forEachField(
        in bytes: UnsafeRawBufferPointer,
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
    ) {
        let colon = UInt8(ascii: ":")
        let comma = UInt8(ascii: ",")
        var start = 0
        while start < bytes.count {
            let nameEnd = ByteSearch.first(colon, or: comma, in: bytes, from: start) ?? bytes.count
            var end = nameEnd
            var valueStart = nameEnd
            if nameEnd < bytes.count, bytes[nameEnd] == colon {
                valueStart = nameEnd + 1
                end = ByteSearch.first(comma, or: comma, in: bytes, from: valueStart) ?? bytes.count
            }
            body(bytes.slice(start, nameEnd), bytes.slice(valueStart, end))
            start = end + 1
        }
    }
}

/// The set of known fields that a line has contained so far.
private struct PumpKnownFields: OptionSet {
    let rawValue: UInt8

    static let state = PumpKnownFields(rawValue: 1 << 0)
    static let speed = PumpKnownFields(rawValue: 1 << 1)
    static let runtime = PumpKnownFields(rawValue: 1 << 2)
    static let remaining = PumpKnownFields(rawValue: 1 << 3)
    static let water = PumpKnownFields(rawValue: 1 << 4)
    static let skin = PumpKnownFields(rawValue: 1 << 5)
    static let temperature = PumpKnownFields(rawValue: 1 << 6)
}

extension PumpStatus {
    /// Parses the fields of `STATUS:{…}` in any order, and keeps unknown fields.
    ///
    /// Returns nil if a known field occurs twice, or if a field contains a `{`. In both cases two lines have run
    /// together, because bytes between them were lost, and neither line can be trusted.
    init?(fields: UnsafeRawBufferPointer) {
        self.init()
        var known: PumpKnownFields = []
        var isTorn = false
        PumpFieldParser.forEachField(in: fields) { name, value in
            let field = Self.field(called: name)
            isTorn = isTorn || !known.isDisjoint(with: field)
            known.insert(field)
            if !read(field, value) {
                let other = PumpStatusField(name: name.text, value: value.text)
                isTorn = isTorn || other.containsBrace
                otherFields.append(other)
            }
        }
        if isTorn { return nil }
    }

    /// Returns the known field with this name; empty if there is none.
    private static func field(called name: UnsafeRawBufferPointer) -> PumpKnownFields {
        // A comparison by length first leaves one or two candidates.
        switch name.count {
        case 4 where name.equals("Temp"): .temperature
        case 5 where name.equals("State"): .state
        case 5 where name.equals("Speed"): .speed
        case 7 where name.equals("Runtime"): .runtime
        case 8 where name.equals("SkinTemp"): .skin
        case 9 where name.equals("WaterTemp"): .water
        case 9 where name.equals("Remaining"): .remaining
        default: []
        }
    }

    /// Stores the value of a field. Returns false if the field is unknown, or if the value can't be parsed.
    private mutating func read(_ field: PumpKnownFields, _ value: UnsafeRawBufferPointer) -> Bool {
        switch field {
        case .state:
            guard let power = Power(value) else { return false }
            self.power = power
        case .speed:
            guard let percent = value.number(suffix: "%"), percent <= 100 else { return false }
            speedPercent = UInt8(percent)
        case .runtime:
            guard let minutes = value.number(suffix: "m") else { return false }
            runtimeMinutes = minutes
        case .remaining:
            guard let minutes = value.number(suffix: "m") else { return false }
            remainingMinutes = minutes
        case .water: return temperatures.water.fill(from: value)
        case .skin: return temperatures.skin.fill(from: value)
        case .temperature: return temperatures.single.fill(from: value)
        default: return false
        }
        return true
    }
}

extension PumpStatusField {
    /// Whether another line begins in this field.
    fileprivate var containsBrace: Bool { name.contains("{") || value.contains("{") }
}

extension PumpStatus.Power {
    fileprivate init?(_ value: UnsafeRawBufferPointer) {
        if value.equals("ON") {
            self = .on
        } else if value.equals("OFF") {
            self = .off
        } else if value.equals("ERROR") {
            self = .error
        } else {
            return nil
        }
    }
}

extension PumpTemperatures {
    /// Parses the text after `TEMP:`: `34.5`, or `{Water:12.0C,Skin:34.5C}`. Unknown fields are kept. Returns nil if
    /// the text has neither form, if it contains no field, or if two lines have run together: a thermistor is named
    /// twice, or a field contains a `{`.
    init?(_ value: UnsafeRawBufferPointer) {
        self.init()
        guard let inner = value.insideBraces else {
            guard single.fill(from: value) else { return nil }
            return
        }
        var known: PumpKnownFields = []
        var isTorn = false
        PumpFieldParser.forEachField(in: inner) { name, value in
            let field: PumpKnownFields = name.equals("Water") ? .water : name.equals("Skin") ? .skin : []
            isTorn = isTorn || !known.isDisjoint(with: field)
            known.insert(field)
            if field == .water, water.fill(from: value) { return }
            if field == .skin, skin.fill(from: value) { return }
            let other = PumpStatusField(name: name.text, value: value.text)
            isTorn = isTorn || other.containsBrace
            otherFields.append(other)
        }
        guard !isTorn, self != PumpTemperatures() else { return nil }
    }
}

extension ThermistorReading? {
    /// Stores the value of a field. Returns false if the value can't be parsed.
    fileprivate mutating func fill(from value: UnsafeRawBufferPointer) -> Bool {
        guard let celsius = value.decimal(suffix: UInt8(ascii: "C")) else { return false }
        self = ThermistorReading(celsius: celsius)
        return true
    }
}
