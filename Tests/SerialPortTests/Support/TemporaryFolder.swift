import Glibc

/// A folder that is gone with its last user.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/serial-port-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!).map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        for name in ["a", "b", "c"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// The path of something in the folder: one of `a`, `b` and `c`.
    func path(_ name: String) -> String { "\(path)/\(name)" }
}
