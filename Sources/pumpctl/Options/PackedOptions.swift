/// Short options that are written in one word, as `-vp /dev/ttyUSB0`.
enum PackedOptions {
    /// The same arguments, each of the options that every command takes in a word of its own.
    static func unpacked(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].flatMap { isPacked($0) ? $0.dropFirst().map { "-\($0)" } : [$0] } + arguments[end...]
    }

    /// Whether a word is several of these options: flags, and at most the last with a value behind it.
    private static func isPacked(_ word: String) -> Bool {
        let letters = word.dropFirst()
        return word.hasPrefix("-") && letters.count > 1 && letters.dropLast().allSatisfy { "vh".contains($0) }
            && letters.last.map { "vhpf".contains($0) } == true
    }
}
