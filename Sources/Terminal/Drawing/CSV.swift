/// Comma-separated values, as RFC 4180 has them.
public enum CSV {
    /// A row without its end. A spreadsheet takes no field for a formula: one that would be gets an apostrophe before it. A
    /// number stays one.
    public static func row(_ fields: [String]) -> String { fields.map(field).joined(separator: ",") }

    static func field(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@".contains($0) } == true && Double(text) == nil
        return quoted(isFormula ? "'" + text : text)
    }

    private static func quoted(_ text: String) -> String {
        let special: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D]
        guard text.utf8.contains(where: special.contains) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
