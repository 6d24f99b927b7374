import LineProtocol

extension String {
    /// A stranger's text as a field of comma-separated values, which neither a terminal nor a spreadsheet takes for a
    /// command. A number stays one.
    func harmlessForCSV() -> String {
        let text = printable()
        let isFormula = text.first.map { "=+-@".contains($0) } == true && Double(text) == nil
        return (isFormula ? "'" + text : text).quotedForCSV()
    }

    /// A field of comma-separated values, as RFC 4180 has it.
    func quotedForCSV() -> String {
        let special: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D]
        guard utf8.contains(where: special.contains) else { return self }
        return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
