extension Duration {
    /// The duration, which must not be negative, in seconds: with at most three decimals, without trailing zeros.
    package var inSeconds: String {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
        var text = "\(milliseconds / 1000)." + "\(1000 + milliseconds % 1000)".dropFirst()
        while text.last == "0" { text.removeLast() }
        return text
    }
}
