import DescriptorIO
import Glibc

/// Finds and starts `pumpctld`, which replaces `pumpctl serve`.
enum ServeProgram {
    /// Replaces this process by `pumpctld`.
    ///
    /// - Returns: The failure; returns only if replacing has failed.
    static func replaceThis(_ arguments: [String]) -> Failure {
        guard
            let path = path(
                besides: ProgramArguments.executablePath, variable: getenv("PATH").map { String(cString: $0) })
        else {
            return Failure(
                .unavailable, code: "not_installed", "pumpctld is not installed",
                hint: "install it next to pumpctl: make install")
        }
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        return Failure(
            .ioError, code: "system", "can't start \(path): \(reason)", hint: "install pumpctl again: make install")
    }

    /// Returns the path of `pumpctld`: next to this program (in the build folder), in `../libexec/pumpctl` (installed),
    /// or in a folder of PATH; nil if none of these folders has a `pumpctld` that this user may execute.
    ///
    /// - Parameters:
    ///   - program: The path of this program.
    ///   - variable: The value of PATH.
    static func path(besides program: String, variable: String?) -> String? {
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let folders = (variable ?? "").split(separator: ":")
        let paths =
            ["\(folder)/pumpctld", "\(folder)/../libexec/pumpctl/pumpctld"] + folders.map { "\($0)/pumpctld" }
        return paths.first { access($0, X_OK) == 0 }
    }
}
