internal import Glibc

/// A folder for data that only one user may access.
public enum PrivateFolder {
    /// Creates a folder and its missing parents, accessible to this user only. Errors are ignored here: they show when
    /// a file is created in the folder.
    public static func make(_ path: String) {
        for slash in path.indices.dropFirst() where path[slash] == "/" { mkdir(String(path[..<slash]), 0o700) }
        mkdir(path, 0o700)
    }
}
