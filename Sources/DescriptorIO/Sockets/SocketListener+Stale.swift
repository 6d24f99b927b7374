internal import Glibc

extension SocketListener {
    /// Removes the Unix socket that a killed program has left behind: it refuses connections. Does nothing if a program
    /// listens there, or for a TCP address.
    package static func removeStale(_ address: SocketAddress, on loop: EventLoop) async {
        guard case .unix(let path) = address, let socket = SocketFile(at: path) else { return }
        do throws(DescriptorError) {
            // The limit matters only if the backlog is full: then a program listens, and the socket stays.
            let channel = try await DescriptorChannel.connect(
                to: address, on: loop, deadline: .now.advanced(by: .seconds(1)))
            await channel.close()
        } catch {
            if error.errno == ECONNREFUSED { socket.remove() }
        }
    }
}

/// The identity of a Unix socket's node at the time of the look: a node that replaces it at the same path differs.
struct SocketFile {
    private let path: String
    private let device: dev_t
    private let inode: ino_t
    private let changed: timespec

    /// Identifies the socket at a path; nil if there is none.
    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        self.path = path
        (device, inode, changed) = (status.st_dev, status.st_ino, status.st_ctim)
    }

    /// Removes the socket, unless another program has replaced it.
    ///
    /// Two programs that start at the same time find the same socket. An flock(2) lock on the folder protects the last
    /// check and the removal; if another program has the lock, that program removes the socket.
    func remove() {
        let folder = open(path.lastIndex(of: "/").map { "\(path[...$0])." } ?? ".", O_RDONLY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        guard folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0 else { return }
        // Unlock explicitly: a child process that was just started has a copy of the descriptor.
        defer { if folder >= 0 { flock(folder, LOCK_UN) } }
        guard let now = SocketFile(at: path), now.device == device, now.inode == inode,
            now.changed.tv_sec == changed.tv_sec, now.changed.tv_nsec == changed.tv_nsec
        else { return }
        unlink(path)
    }
}
