extension String {
    /// A field of comma-separated values, as RFC 4180 has it.
    func quotedForCSV() -> String {
        guard utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }) else { return self }
        return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
