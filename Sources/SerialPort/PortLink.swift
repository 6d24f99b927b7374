internal import DescriptorIO
import Glibc

/// A symbolic link that gives a pseudo-terminal a name of its own.
struct PortLink {
    let path: String
    let target: String

    private let claim: PortLinkClaim

    /// Creates the link, or throws without waiting.
    ///
    /// A link that a killed program left behind is replaced. It is recognized in one of three ways: its identity is in
    /// the killed program's claim, its target does not exist, or its target is `target`, since the terminal's number
    /// was reused. Anything else at the path is left alone.
    ///
    /// - Throws: ``SerialError`` with ``SerialError/Code/pathTaken`` or ``SerialError/Code/system``.
    init(path: String, target: String) throws(SerialError) {
        self.path = path
        self.target = target
        claim = try PortLinkClaim(link: path)
        do throws(SerialError) { try put() } catch {
            claim.end()
            throw error
        }
        if let link = PortLinkClaim.Identity(ofLink: path) { claim.note(link) }
    }

    private func put() throws(SerialError) {
        if symlink(target, path) == 0 { return }
        guard errno == EEXIST else { throw failure(errno) }
        guard isStale else { throw PortLinkClaim.taken(path) }
        // The process ID and the terminal's number make the temporary name unique, so any file there is a leftover.
        let new = "\(path).\(getpid())-\(target.split(separator: "/").last ?? "")"
        unlink(new)
        guard symlink(target, new) == 0 else { throw failure(errno) }
        guard rename(new, path) == 0 else {
            let error = errno
            unlink(new)
            throw failure(error)
        }
    }

    /// Removes the link, unless the link now leads elsewhere, and releases the claim. Must be the last use of this
    /// value.
    func remove() {
        if destination == target { unlink(path) }
        claim.end()
    }

    /// Whether there is a link at the path that a killed program left behind, given that this process has the claim.
    private var isStale: Bool {
        guard let destination else { return false }
        if destination == target { return true }
        if let former = claim.formerLink, former == PortLinkClaim.Identity(ofLink: path) { return true }
        var status = stat()
        return stat(path, &status) != 0 && errno == ENOENT
    }

    /// The target of the link; nil if there is no link at the path.
    private var destination: String? { Folder.target(ofLink: path) }

    private func failure(_ error: Int32) -> SerialError {
        SerialError(
            .system, errno: error, activity: "linking", path: path,
            hint: "choose a path in a folder that you may write to")
    }
}
