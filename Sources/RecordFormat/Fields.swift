extension Substring {
    /// The fields, which tabs separate.
    var fields: [Substring] {
        utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}
