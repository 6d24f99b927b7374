internal import Glibc

/// Makes a pseudo-terminal look like another one that has got the same number: changes the time by which
/// `PseudoTerminalPath` tells them apart. Symbolic links that are created after this call get a later time, too.
///
/// Closing the terminal and opening a new one would not do: programs that other tests are starting hold it open until
/// their exec(2), so that its number is not free.
public func renewPseudoTerminal(at path: String) {
    var (before, now) = (stat(), stat())
    stat(path, &before)
    // A file system's clock advances in steps, so the first change may get the old time.
    repeat {
        chmod(path, 0o600)
        stat(path, &now)
    } while now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec
}
