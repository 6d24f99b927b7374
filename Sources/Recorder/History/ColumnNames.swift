internal import StrictJSON

/// The names of the values in readings, in order of first occurrence. Each name gets an index: of its column in a
/// table, or of its series in a chart.
struct ColumnNames {
    /// The names as JSON writes them, with escapes and without quotes.
    private(set) var names: [[UInt8]] = []
    private var indices: [[UInt8]: Int] = [:]
    /// The index of the next name if the reading has the same names as the last one.
    private var expected = 0

    /// Returns the index of a name, which is added if it is new.
    mutating func index(of name: ArraySlice<UInt8>) -> Int {
        if expected < names.count, names[expected].elementsEqual(name) {
            defer { expected += 1 }
            return expected
        }
        let name = Array(name)
        let index = indices[name] ?? names.count
        if index == names.count {
            names.append(name)
            indices[name] = index
        }
        expected = index + 1
        return index
    }

    /// Starts a reading: the next name is its first.
    mutating func beginReading() { expected = 0 }

    /// Adds the names in a reading.
    mutating func add(_ reading: String) {
        beginReading()
        for member in JSONValue(reading: reading)?.members ?? [] { _ = index(of: member.nameBytes) }
    }

    /// Returns the values of a reading as JSON, in the order of the names, with `null` for missing values.
    mutating func cells(_ reading: String) -> [String] {
        beginReading()
        var cells = [String](repeating: "null", count: names.count)
        for member in JSONValue(reading: reading)?.members ?? [] {
            let index = index(of: member.nameBytes)
            if index < cells.count { cells[index] = member.value.json }
        }
        return cells
    }

    /// The names as text. A name with control characters stays escaped, since it would break a line.
    var headings: [String] {
        names.map { name in
            let text = String(decoding: name, as: UTF8.self)
            guard let plain = JSONValue.text(of: "\"\(text)\""), !plain.utf8.contains(where: { $0 < 0x20 }) else {
                return text
            }
            return plain
        }
    }
}

extension JSONValue {
    /// Parses a stored reading; nil if it is not valid JSON, as in a damaged record.
    init?(reading: String) {
        guard let value = try? JSONValue(Array(reading.utf8), size: .max, isLenient: true) else { return nil }
        self = value
    }
}
