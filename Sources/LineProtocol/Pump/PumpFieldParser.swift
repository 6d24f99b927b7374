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

extension PumpStatus {
    /// Reads the fields of `STATUS:{…}`, in any order, those that are not known kept.
    init(fields: UnsafeRawBufferPointer) {
        self.init()
        PumpFieldParser.forEachField(in: fields) { name, value in
            if !read(name, value) {
                otherFields.append(PumpStatusField(name: name.text, value: value.text))
            }
        }
    }

    /// Takes in one field; false if it is not known, can't be read, or came before.
    private mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        // By the length of the name first: it leaves one or two to compare with.
        switch name.count {
        case 4 where name.equals("Temp"): return temperatures.single.fill(from: value)
        case 5 where name.equals("State"):
            guard power == .unknown, let power = Power(value) else { return false }
            self.power = power
        case 5 where name.equals("Speed"):
            guard speedPercent == nil, let percent = value.number(suffix: "%"), percent <= 100 else { return false }
            speedPercent = UInt8(percent)
        case 7 where name.equals("Runtime"):
            guard runtimeMinutes == nil, let minutes = value.number(suffix: "m") else { return false }
            runtimeMinutes = minutes
        case 8 where name.equals("SkinTemp"): return temperatures.skin.fill(from: value)
        case 9 where name.equals("WaterTemp"): return temperatures.water.fill(from: value)
        case 9 where name.equals("Remaining"):
            guard remainingMinutes == nil, let minutes = value.number(suffix: "m") else { return false }
            remainingMinutes = minutes
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
    /// neither, or says nothing.
    init?(_ value: UnsafeRawBufferPointer) {
        self.init()
        guard let inner = value.insideBraces else {
            guard single.fill(from: value) else { return nil }
            return
        }
        PumpFieldParser.forEachField(in: inner) { name, value in
            if name.equals("Water"), water.fill(from: value) { return }
            if name.equals("Skin"), skin.fill(from: value) { return }
            otherFields.append(PumpStatusField(name: name.text, value: value.text))
        }
        guard self != PumpTemperatures() else { return nil }
    }
}

extension ThermistorReading? {
    /// Takes in the value of a field that has not come before; false if it did or can't be read.
    fileprivate mutating func fill(from value: UnsafeRawBufferPointer) -> Bool {
        guard self == nil, let celsius = value.decimal(suffix: UInt8(ascii: "C")) else { return false }
        self = ThermistorReading(celsius: celsius)
        return true
    }
}
