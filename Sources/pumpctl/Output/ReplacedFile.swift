import Glibc

/// Where a command writes what counts only when it is whole: into a file under another name until then.
///
/// A file that is there keeps what it holds until it is replaced by all of the new. What an earlier command left under the
/// other name is kept until something new has come.
struct ReplacedFile: Sendable {
    /// What was asked for; nil for standard output.
    let path: String?
    let file: OutputFile
    private let wasPartThere: Bool

    /// - Parameter path: The file to be replaced or made; nil or `-` for standard output. A terminal, a pipe or /dev/null is
    ///   written to as it is: there is nothing to keep.
    init(path: String?) throws(Failure) {
        let path = path == "-" ? nil : path
        self.path = path
        guard let path else {
            file = OutputFile()
            wasPartThere = false
            return
        }
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFDIR { throw Failure(file: path, errno: EISDIR) }
        let isSpecial = isThere && status.st_mode & S_IFMT != S_IFREG
        let place = isSpecial ? path : path + ".partial"
        wasPartThere = access(place, F_OK) == 0
        file = try OutputFile(path: place, .replaceWhenWritten)
    }

    /// Where what came is; nil for standard output.
    var place: String? { file.path }

    /// Whether what is written is shown on the terminal.
    var isTerminal: Bool { path == nil && isatty(STDOUT_FILENO) == 1 }

    /// It is whole.
    func complete() throws(Failure) {
        guard let path, let place, place != path else { return }
        try file.begin()
        // On the disk before it has the name: a crash must not leave half of it there.
        try file.synchronize()
        guard rename(place, path) == 0 else { throw Failure(file: path, errno: errno) }
    }

    /// It is not wanted.
    func discard() {
        if let place, place != path, file.hasBegun || !wasPartThere { unlink(place) }
    }
}
