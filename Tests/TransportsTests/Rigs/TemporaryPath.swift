import Glibc

/// Paths that nobody else uses, for sockets and links that are removed by their owners.
enum TemporaryPath {
    /// A path in a new folder, which is left empty.
    static func make(_ name: String) -> String {
        var template = Array("/tmp/transports-tests-XXXXXX".utf8CString)
        return template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!).map { "\(String(cString: $0))/\(name)" } ?? ""
        }
    }
}
