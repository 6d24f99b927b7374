internal import DescriptorIO
internal import Glibc

/// The running programs, except this one.
enum RunningPrograms {
    /// Returns the command names, as the kernel reports them: at most 15 bytes.
    static func names() -> Set<String> { Set(all().map(\.name)) }

    /// Returns the command line of a program; nil if no program of this name runs, or its command line is not visible.
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
