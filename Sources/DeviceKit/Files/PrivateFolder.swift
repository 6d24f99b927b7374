internal import Glibc

/// A folder for what one user's programs keep.
public enum PrivateFolder {
    /// Makes a folder and those above it, where they are missing, for their user alone. What can't be made shows when
    /// something is put there.
    public static func make(_ path: String) {
        var end = path.startIndex
        while let slash = path[path.index(after: end)...].firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            end = slash
        }
        mkdir(path, 0o700)
    }
}
