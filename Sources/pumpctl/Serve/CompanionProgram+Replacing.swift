import DeviceKit
import Glibc
import RecordFormat

extension CompanionProgram {
    /// Replaces this process by a program that is installed with pumpctl, or is in a folder of PATH.
    ///
    /// - Returns: The failure; returns only if replacing has failed.
    static func replaceThis(by name: String, _ arguments: [String]) -> Failure {
        let path: String
        do throws(Trouble) {
            path = try installed(name, orIn: getenv("PATH").map { String(cString: $0) } ?? "").path
        } catch {
            return Failure(error)
        }
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, words)
        let reason = String(cString: strerror(errno))
        for word in words { free(word) }
        return Failure(
            .ioError, code: "system", "can't start \(path): \(reason)", hint: "install pumpctl again: make install")
    }
}
