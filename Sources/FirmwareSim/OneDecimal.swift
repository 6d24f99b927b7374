/// Formats a number as C's `%4.1f` does: `34.5`, ` 9.5`, `-0.0`, ` nan`, `-inf`.
///
/// The result is exact for every value. A tie goes to the even digit, as in C. A NaN has no sign, as on AVR.
func oneDecimal(_ value: Float) -> String {
    let magnitude = value.magnitude
    let digits: String
    if value.isNaN {
        digits = "nan"
    } else if value.isInfinite {
        digits = "inf"
    } else {
        // Every finite Float is below 2^128, and ten times a Float's fraction is exact in a Double.
        var whole = UInt128(magnitude)
        let fraction = Double(magnitude - magnitude.rounded(.down))
        var tenths = Int((fraction * 10).rounded(.toNearestOrEven))
        if tenths == 10 {
            whole += 1
            tenths = 0
        }
        digits = "\(whole).\(tenths)"
    }
    let text = value.sign == .minus && !value.isNaN ? "-" + digits : digits
    return String(repeating: " ", count: max(0, 4 - text.utf8.count)) + text
}
