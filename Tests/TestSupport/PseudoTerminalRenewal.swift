internal import Glibc

/// Makes a pseudo-terminal look like a later one with the same number. Links created from now on are later, too.
///
/// Closing the terminal would not do: programs that other tests are starting hold it open until their exec(2).
public func renewPseudoTerminal(at path: String) {
    var (before, now) = (stat(), stat())
    stat(path, &before)
    // A file system's clock advances in steps.
    repeat {
        chmod(path, 0o600)
        stat(path, &now)
    } while now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec
}
