extension BinaryInteger {
    /// Returns the number with its noun, for a message: `1 record`, `2 records`.
    ///
    /// - Parameters:
    ///   - noun: The singular.
    ///   - plural: The plural; nil means the noun with an s.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
