import Glibc
import Testing

/// Runs with the file permissions of `nobody`, which Linux can change for the calling thread alone.
func asNobody<Result>(_ body: () throws -> Result) throws -> Result {
    guard geteuid() == 0 else { return try body() }
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let setfsuid = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
    _ = setfsuid(65534)
    defer { _ = setfsuid(0) }
    return try body()
}
