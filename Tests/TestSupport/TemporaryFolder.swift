internal import FoundationEssentials
internal import Glibc

/// A folder that is removed with its files when its last user releases it.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() {
        var template = Array("/tmp/pumpctl-test-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            // Nothing can be created below /proc, so a test without a folder fails at its first file.
            mkdtemp(buffer.baseAddress!).map { String(cString: $0) } ?? "/proc/nowhere"
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in the folder; returns its path, even if writing fails.
    public func write(_ text: String, to name: String) -> String {
        var text = text
        let descriptor = open(path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        return path(name)
    }
}

extension TemporaryFolder {
    /// Creates a folder in the folder.
    public func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    }
}

extension TemporaryFolder {
    /// The content of a file in the folder; empty if there is none.
    public func read(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path(name)).map { Array($0) } ?? []
    }
}
