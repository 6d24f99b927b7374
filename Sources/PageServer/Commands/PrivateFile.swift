internal import Glibc
internal import NIOHTTP1

/// A file in a new folder that only this user may enter. Everything here blocks the thread.
struct PrivateFile: Sendable {
    private let folder: String
    /// The path of the file.
    let path: String

    /// Writes the file.
    ///
    /// - Throws: ``Problem`` with the code `failed`.
    init(_ name: String, _ bytes: [UInt8]) throws(Problem) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let template = strdup("\(parent)/pumpctl-page-XXXXXX")
        defer { free(template) }
        guard let template, mkdtemp(template) != nil else { throw Self.problem(errno) }
        folder = String(cString: template)
        path = "\(folder)/\(name)"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let count = file < 0 ? -1 : bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        let problem = count == bytes.count ? nil : Self.problem(count < 0 ? errno : ENOSPC)
        if file >= 0 { close(file) }
        guard let problem else { return }
        remove()
        throw problem
    }

    /// Removes the file and its folder.
    func remove() {
        unlink(path)
        rmdir(folder)
    }

    private static func problem(_ number: CInt) -> Problem {
        Problem(
            .serviceUnavailable, "failed", "can't keep the image: \(String(cString: strerror(number)))",
            hint: "make room in the folder for temporary files", outcome: "not_sent")
    }
}
