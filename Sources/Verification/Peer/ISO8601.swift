/// Instants in ISO 8601, such as `2025-01-31T16:04:05Z`. Seconds, their fraction, and the offset are optional.
enum ISO8601 {
    /// Whether a text is such an instant. The numbers of the date and the time must be in range, but each month may
    /// have 31 days, and 24 is an hour. The offset may be any number of its form.
    static func isInstant(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = numbers(parts[0], "-", [4, 2, 2]), (1...12).contains(date[1]),
            (1...31).contains(date[2])
        else { return false }
        let zone = parts[1].firstIndex { "Z+-".contains($0) } ?? parts[1].endIndex
        let seconds = parts[1][..<zone].split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard let time = numbers(seconds[0], ":", [2, 2, 2]) ?? numbers(seconds[0], ":", [2, 2]), time[0] <= 24,
            time[1] <= 59, time.last ?? 0 <= 60, seconds.count <= 2,
            seconds.dropFirst().allSatisfy({ !$0.isEmpty && isDigits($0) })
        else { return false }
        let offset = parts[1][zone...]
        return offset.isEmpty || offset == "Z"
            || offset.first != "Z" && [[2, 2], [2]].contains { numbers(offset.dropFirst(), ":", $0) != nil }
    }

    /// Returns the numbers in a text, which have the given widths and either separators between all of them or no
    /// separators; nil if the text has another form.
    private static func numbers(_ text: some StringProtocol, _ separator: Character, _ widths: [Int]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let digits = parts.joined()
        guard isDigits(digits), digits.count == widths.reduce(0, +) else { return nil }
        guard parts.count == 1 || parts.map(\.count) == widths else { return nil }
        var rest = digits[...]
        return widths.map { width in
            defer { rest = rest.dropFirst(width) }
            return Int(rest.prefix(width)) ?? 0
        }
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
