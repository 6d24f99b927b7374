internal import DescriptorIO

/// The shared libraries that this program has loaded.
struct SharedLibraries: Equatable {
    /// The paths of the files with symbolic links resolved, so that the names include versions:
    /// `/usr/lib/x86_64-linux-gnu/libudev.so.1.7.5`.
    let paths: [String]

    /// Finds the libraries in a memory map.
    ///
    /// - Parameter maps: The contents of `/proc/self/maps`: lines of five columns and a path.
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

    /// Returns the path of a library by its name, such as `libudev`; nil if the library is not loaded.
    func path(of name: String) -> String? {
        paths.first { $0.split(separator: "/").last?.hasPrefix(name + ".") == true }
    }
}
