/// Reads what stands between the braces of a status or a temperature line.
///
/// It works on the bytes in place and allocates nothing but what keeps an unknown field.
struct PumpFieldParser {
    /// Calls `body` with the name and the value of each `name:value`, parted by commas.
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

/// The fields that this library knows, as a set of those that a line has had.
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
    /// Reads the fields of `STATUS:{…}`, in any order, those that are not known kept.
    ///
    /// Nil where a known field is there twice, or a brace stands in a field: two lines ran together where bytes between them
    /// were lost, and neither is to be believed.
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
                isTorn = isTorn || other.name.contains("{") || other.value.contains("{")
                otherFields.append(other)
            }
        }
        if isTorn { return nil }
    }

    /// What a name stands for; empty where it is not known.
    private static func field(called name: UnsafeRawBufferPointer) -> PumpKnownFields {
        // By the length of the name first: it leaves one or two to compare with.
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

    /// Takes in the value of a field; false if the field is not known, or the value can't be read.
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
    /// Reads what stands behind `TEMP:`: `34.5`, or `{Water:12.0C,Skin:34.5C}`, what it does not know kept. Nil if it is
    /// neither, says nothing, or has a thermistor twice.
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
            otherFields.append(PumpStatusField(name: name.text, value: value.text))
        }
        guard !isTorn, self != PumpTemperatures() else { return nil }
    }
}

extension ThermistorReading? {
    /// Takes in the value of a field; false if it can't be read.
    fileprivate mutating func fill(from value: UnsafeRawBufferPointer) -> Bool {
        guard let celsius = value.decimal(suffix: UInt8(ascii: "C")) else { return false }
        self = ThermistorReading(celsius: celsius)
        return true
    }
}
