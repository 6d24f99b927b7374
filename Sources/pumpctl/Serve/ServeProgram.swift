import DescriptorIO
import Glibc

/// `pumpctld`, the program that `pumpctl serve` becomes.
enum ServeProgram {
    /// Replaces this program by it.
    ///
    /// - Returns: Why that failed.
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

    /// Where it is: beside this program, as it was built, or in `../libexec/pumpctl`, as it is installed, or on PATH; nil where
    /// it is nowhere.
    ///
    /// - Parameters:
    ///   - program: The path of this program.
    ///   - variable: The folders of PATH.
    static func path(besides program: String, variable: String?) -> String? {
        let folder = program.lastIndex(of: "/").map { program[..<$0] } ?? "."
        let folders = (variable ?? "").split(separator: ":")
        let paths =
            ["\(folder)/pumpctld", "\(folder)/../libexec/pumpctl/pumpctld"] + folders.map { "\($0)/pumpctld" }
        return paths.first { access($0, X_OK) == 0 }
    }
}
