/// Arguments that begin with a negative number, which the argument parser would take for options.
///
/// No option of pumpctl begins with a digit.
enum NegativeNumbers {
    /// The same arguments, written so that a negative number is a value: `--at -35.9,-79` as `--at=-35.9,-79`, and
    /// `say -5` as `say -- -5` where nothing behind it is an option.
    static func asValues(in arguments: [String]) -> [String] {
        var result: [String] = []
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return result + arguments[index...] }
            guard isNegative(argument) else {
                result.append(argument)
                continue
            }
            // What follows one of the flags that stand with every command is not its value.
            if let option = result.last, option.hasPrefix("--"), !option.contains("="),
                !SharedOption.flags.contains(option[...])
            {
                result[result.count - 1] = option + "=" + argument
            } else if arguments[(index + 1)...].allSatisfy({ !$0.hasPrefix("-") || isNegative($0) }) {
                return result + ["--"] + arguments[index...]
            } else {
                result.append(argument)
            }
        }
        return result
    }

    /// Whether a text begins as a negative number does.
    private static func isNegative(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst()
        let digits = rest.first == UInt8(ascii: ".") ? rest.dropFirst() : rest
        return text.hasPrefix("-") && digits.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
    }
}
