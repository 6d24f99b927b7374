/// A line `STATUS:{…}`, or `TEMP:{…}`, as docs/protocols.md has it: its fields, in order.
struct StatusLine {
    /// What stands before and behind the first colon of each field.
    let fields: [(name: String, value: String)]

    /// Nil where it is no such line.
    ///
    /// - Parameter kind: `STATUS` or `TEMP`.
    init?(_ text: String, kind: String = "STATUS") {
        guard text.hasPrefix(kind + ":{"), text.hasSuffix("}") else { return nil }
        let inside = text.dropFirst(kind.count + 2).dropLast()
        fields = inside.split(separator: ",", omittingEmptySubsequences: false).map { field in
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
    }

    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// ON, OFF or ERROR; what else the line says there.
    var state: String? { self["State"] }

    /// A whole number before `unit`; nil where the field is none.
    func number(_ name: String, _ unit: String) -> Int? {
        guard let value = self[name], value.hasSuffix(unit) else { return nil }
        let digits = value.dropLast(unit.count)
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }

    /// The names of the fields, as `State,Speed`.
    var names: String { fields.map(\.name).joined(separator: ",") }
}

/// A temperature as the pump writes it: one decimal, at least four characters, blanks before it.
struct WrittenTemperature {
    /// Nil for `nan` and `inf`, which a broken thermistor gives.
    let celsius: Double?

    /// Nil where the text, which has no unit, is not written so.
    init?(_ text: some StringProtocol) {
        let number = text.drop { $0 == " " }
        guard text.utf8.count >= 4, text.utf8.count == 4 || number.utf8.count == text.utf8.count else { return nil }
        let digits = number.hasPrefix("-") ? number.dropFirst() : number[...]
        if ["nan", "inf"].contains(digits.lowercased()) {
            celsius = nil
            return
        }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal = parts.count == 2 && !parts[0].isEmpty && parts[1].utf8.count == 1
        guard isDecimal, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return nil }
        celsius = Double(number)
    }
}

extension LineExpectation {
    /// A status line, whatever it says.
    static let status = LineExpectation("STATUS:{…}") { $0.hasPrefix("STATUS:") }
    /// A line with temperatures, whatever they are.
    static let temperatures = LineExpectation("TEMP:…") { $0.hasPrefix("TEMP:") }
}

extension Bench {
    /// Asks for the state and reads it.
    func status() async throws -> StatusLine {
        let line = try await ask(raw: "STATUS\n", [.status], isQuestion: true)[0]
        guard let status = StatusLine(line.text) else {
            throw CheckFailure(expected: "STATUS:{…}", got: line.bytes.shown)
        }
        if status.state == "ON" { mayHaveRun = true }
        return status
    }

    /// Asks for the state, and fails unless it is this one.
    func expect(state: String) async throws {
        let status = try await status()
        try require(status.state == state, "State:\(state)", got: "State:\(status.state ?? "")")
    }

    /// Asks for the speed, and fails unless it is this one.
    func expect(percent: Int, because reason: String) async throws {
        let status = try await status()
        try require(
            status.number("Speed", "%") == percent, "Speed:\(percent)% \(reason)",
            got: "State:\(status.state ?? ""),Speed:\(status["Speed"] ?? "")")
    }
}
