internal import DescriptorIO

/// The libraries of the system that this program has loaded.
struct SharedLibraries: Equatable {
    /// The files, links followed, so that their names tell the version: `/usr/lib/x86_64-linux-gnu/libudev.so.1.7.5`.
    let paths: [String]

    /// - Parameter maps: What `/proc/self/maps` says: the path follows five columns.
    init(maps: String) {
        var paths: [String] = []
        for line in maps.split(separator: "\n") {
            let columns = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard columns.count == 6, columns[5].contains(".so") else { continue }
            let path = String(columns[5].drop { $0 == " " })
            if !paths.contains(path) { paths.append(path) }
        }
        self.paths = paths
    }

    static func loaded() -> SharedLibraries { SharedLibraries(maps: TextFile.contents(of: "/proc/self/maps") ?? "") }

    /// The file of a library by its name, `libudev`.
    func path(of name: String) -> String? {
        paths.first { $0.split(separator: "/").last?.hasPrefix(name + ".") == true }
    }
}
