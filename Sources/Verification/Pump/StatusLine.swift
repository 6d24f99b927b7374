/// The fields of a line `STATUS:{…}` or `TEMP:{…}`, by docs/protocols.md, in order.
struct StatusLine {
    /// The texts before and after the first colon of each field.
    let fields: [(name: String, value: String)]

    /// Parses a line; nil if the text is not a line of this kind.
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

    /// The pump's state: `ON`, `OFF`, `ERROR`, or any other text in that field; nil if the field is missing.
    var state: String? { self["State"] }

    /// Returns the whole number before `unit` in the field `name`; nil if the field is missing or has another form.
    func number(_ name: String, _ unit: String) -> Int? {
        guard let value = self[name], value.hasSuffix(unit) else { return nil }
        let digits = value.dropLast(unit.count)
        return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
    }

    /// The names of the fields, in order: `State,Speed`.
    var names: String { fields.map(\.name).joined(separator: ",") }
}

/// A temperature in the pump's format: one decimal, padded with leading spaces to at least four characters.
struct WrittenTemperature {
    /// The temperature in degrees Celsius; nil for `nan` and `inf`, the readings of a broken thermistor.
    let celsius: Double?

    /// Parses a temperature without its unit; nil if the text has another format.
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
    /// Any status line.
    static let status = LineExpectation("STATUS:{…}") { $0.hasPrefix("STATUS:") }
    /// Any line with temperatures.
    static let temperatures = LineExpectation("TEMP:…") { $0.hasPrefix("TEMP:") }
}

extension Bench {
    /// Queries and returns the status.
    func status() async throws -> StatusLine {
        let line = try await ask(raw: "STATUS\n", [.status], isQuestion: true)[0]
        guard let status = StatusLine(line.text) else {
            throw CheckFailure(expected: "STATUS:{…}", got: line.bytes.shown)
        }
        if status.state == "ON" { mayHaveRun = true }
        return status
    }

    /// Queries the status, and fails unless the pump is in this state.
    func expect(state: String) async throws {
        let status = try await status()
        try require(status.state == state, "State:\(state)", got: "State:\(status.state ?? "")")
    }

    /// Queries the status, and fails unless the pump runs at this speed.
    func expect(percent: Int, because reason: String) async throws {
        let status = try await status()
        try require(
            status.number("Speed", "%") == percent, "Speed:\(percent)% \(reason)",
            got: "State:\(status.state ?? ""),Speed:\(status["Speed"] ?? "")")
    }
}
