extension BinaryInteger {
    /// So many of something, in a message: `1 record`, `2 records`.
    ///
    /// - Parameters:
    ///   - noun: One of them.
    ///   - plural: Several of them; the noun with an s where it is nil.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
