internal import CDBus

/// The library that this module is built on.
public enum DBusLibrary {
    /// The version of libdbus-1 in use, such as `1.14.10`.
    public static var version: String {
        var (major, minor, micro): (CInt, CInt, CInt) = (0, 0, 0)
        cdbus_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }
}
