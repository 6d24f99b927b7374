internal import DescriptorIO
internal import Glibc

/// The programs that run, but this one.
enum RunningPrograms {
    /// Their command names, as the kernel has them: at most 15 bytes.
    static func names() -> Set<String> { Set(all().map(\.name)) }

    /// The arguments that a program of that name was started with; nil where none runs, or it does not let them be seen.
    static func arguments(of name: String) -> [String]? {
        for program in all() where program.name == name {
            guard let line = TextFile.contents(of: "/proc/\(program.process)/cmdline") else { continue }
            return line.split(separator: "\0").map { String($0) }
        }
        return nil
    }

    private static func all() -> [(process: String, name: String)] {
        Folder.names(in: "/proc").compactMap { process in
            guard process.first?.isNumber == true, process != "\(getpid())",
                let name = TextFile.contents(of: "/proc/\(process)/comm")
            else { return nil }
            return (process, String(name.prefix { $0 != "\n" }))
        }
    }
}
