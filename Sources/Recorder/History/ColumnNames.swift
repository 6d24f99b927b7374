internal import RecordFormat

/// The names of values, in the order in which they came first.
struct ColumnNames {
    private(set) var names: [[UInt8]] = []
    private var indices: [[UInt8]: Int] = [:]
    /// Where the next name is if a reading has the same names as the one before.
    private var expected = 0

    /// Where a name stands; it is added where it is new.
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

    /// The next name is the first of a reading.
    mutating func beginReading() { expected = 0 }

    /// Adds the names of a reading.
    mutating func add(_ reading: String) {
        beginReading()
        for member in ReadingMembers(reading.utf8) { _ = index(of: member.name) }
    }

    /// The values of a reading in the order of the names, `null` where it has none.
    mutating func cells(_ reading: String) -> [String] {
        beginReading()
        var cells = [String](repeating: "null", count: names.count)
        for member in ReadingMembers(reading.utf8) {
            let index = index(of: member.name)
            if index < cells.count { cells[index] = String(decoding: member.json, as: UTF8.self) }
        }
        return cells
    }

    /// The names as text. One that would break a line stays escaped.
    var headings: [String] {
        names.map { name in
            let text = String(decoding: name, as: UTF8.self)
            guard let plain = JSONText.unquoted("\"\(text)\""), !plain.utf8.contains(where: { $0 < 0x20 }) else {
                return text
            }
            return plain
        }
    }
}
