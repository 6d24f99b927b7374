internal import Glibc

extension SocketListener {
    /// Removes what a program has left that was killed: a socket in a folder that refuses who connects.
    package static func removeStale(_ address: SocketAddress, on loop: EventLoop) async {
        guard case .unix(let path) = address else { return }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        do throws(DescriptorError) {
            let channel = try await DescriptorChannel.connect(
                to: address, on: loop, deadline: .now.advanced(by: .seconds(1)))
            await channel.close()
        } catch {
            if error.errno == ECONNREFUSED { unlink(path) }
        }
    }
}
