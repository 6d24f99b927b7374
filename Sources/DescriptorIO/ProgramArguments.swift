internal import CDescriptorIO
internal import Glibc

/// The command-line arguments of this program.
///
/// `CommandLine.arguments` is empty in a chroot without `/proc`, and with some preloaded libraries
/// (https://github.com/swiftlang/swift/issues/76080, https://github.com/google/nsjail/issues/188). A program that
/// mistakes lost arguments for none would do something else than the user asked for.
public enum ProgramArguments {
    /// All arguments, beginning with the program's name; empty only if the program was started without a name.
    public static let all: [String] = (0..<cdescriptorio_argument_count()).compactMap { index in
        cdescriptorio_argument(index).map { String(cString: $0) }
    }

    /// Returns the arguments after the program's name. If there is no name, the arguments are lost, and the program
    /// ends with exit code 70.
    ///
    /// - Parameter program: The name of the program, for the message.
    public static func typed(by program: String) -> [String] {
        guard all.isEmpty else { return Array(all.dropFirst()) }
        let message = Array(
            "\(program): the system passed no arguments, not even a program name; nothing was done\n".utf8)
        _ = write(STDERR_FILENO, message, message.count)
        exit(70)
    }

    /// The path of this program; without `/proc`, the path by which it was started.
    public static var executablePath: String {
        Folder.target(ofLink: "/proc/self/exe") ?? cdescriptorio_started_path().map { String(cString: $0) } ?? ""
    }
}
