internal import Glibc

extension ProgramStart {
    /// Checks that the program has a file that may be executed, and looks for the file as `start()` does. `start()` may
    /// still fail, for example if the interpreter of a script is missing.
    ///
    /// - Throws: `system`, for example with ENOENT if there is no file, or EACCES if the file can't be executed.
    package func check() throws(DescriptorError) {
        guard !program.contains("/") else { return try Self.check(program) }
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        var failure = DescriptorError(errno: ENOENT, call: "access")
        for folder in folders.split(separator: ":", omittingEmptySubsequences: false) {
            do throws(DescriptorError) {
                return try Self.check(folder.isEmpty ? program : "\(folder)/\(program)")
            } catch {
                // A file that can't be executed is a better reason than a folder without the file.
                if error.errno == EACCES { failure = error }
            }
        }
        throw failure
    }

    private static func check(_ path: String) throws(DescriptorError) {
        guard !path.isEmpty, access(path, X_OK) == 0 else {
            throw DescriptorError(errno: path.isEmpty ? ENOENT : errno, call: "access")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw DescriptorError(errno: errno, call: "stat") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw DescriptorError(errno: EACCES, call: "access") }
    }
}
