/// Comma-separated values, in the format of RFC 4180.
public enum CSV {
    /// Formats a row, without a line end.
    ///
    /// A field that begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that no spreadsheet takes it for a
    /// formula; numbers such as `-1` are left as they are.
    ///
    /// - Parameter fields: The values, unquoted.
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
