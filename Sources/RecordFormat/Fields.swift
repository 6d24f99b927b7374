extension Substring {
    /// The fields of a line to or from `pumpctl-record`, which tabs separate.
    var fields: [Substring] {
        utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}
