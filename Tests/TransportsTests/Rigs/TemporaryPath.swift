import Glibc

/// Unique paths for sockets and links that their owners remove.
enum TemporaryPath {
    /// A path in a new empty folder.
    static func make(_ name: String) -> String {
        var template = Array("/tmp/transports-tests-XXXXXX".utf8CString)
        return template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!).map { "\(String(cString: $0))/\(name)" } ?? ""
        }
    }
}
