internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The reason why a server can't start.
package struct PageError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failures. The raw value is the exit status of pumpctl-page, as in sysexits.h.
    package enum Code: Int32, Sendable {
        /// The server may not listen at the address: it is no loopback address.
        case usage = 64
        /// Another program has the address.
        case taken = 69
        /// A call of the system failed.
        case system = 71
        /// The user may not use the address or the file of sessions.
        case notPermitted = 77
        /// The file with the sessions of browsers is accessible to other users, or belongs to another user: see
        /// ``SessionFile``.
        case wrongMode = 78
    }

    package let code: Code
    /// A message for people: one sentence without a full stop.
    package let description: String
    /// An instruction that may solve the problem.
    package let hint: String

    private init(_ code: Code, _ description: String, hint: String) {
        (self.code, self.description, self.hint) = (code, description, hint)
    }

    init(_ failure: SessionFile.Failure) {
        let code: Code =
            failure.code == .wrongMode ? .wrongMode : [EACCES, EPERM].contains(failure.errno) ? .notPermitted : .system
        self.init(code, "\(failure)", hint: failure.hint)
    }

    init(_ error: any Error, _ address: PageSettings.Address) {
        let number = (error as? IOError)?.errnoCode ?? EIO
        let (code, hint): (Code, String) =
            switch number {
            case EADDRINUSE: (.taken, "choose another port, or end the program that has it: 'sudo ss -ltnp' lists it")
            case EACCES, EPERM: (.notPermitted, "choose a port above 1023, or a folder that this user may write")
            default: (.system, "choose another address")
            }
        var reason = String(cString: strerror(number))
        if number == EADDRINUSE, case .loopback(_, let port) = address, let holder = PortHolder.name(ofPort: port) {
            reason = "\(holder) listens there"
        }
        self.init(code, "can't listen at \(address): \(reason)", hint: hint)
    }

    static func notLoopback(_ host: String) -> PageError {
        PageError(
            .usage, "the server listens on loopback addresses and Unix sockets only, not on \(host)",
            hint: "use a reverse proxy with TLS for other machines: docs/http.md")
    }

    /// Removes the node of a Unix socket to which this program can't connect, normally because nobody listens on it any
    /// more.
    ///
    /// - Throws: `taken` if a program listens on it.
    static func removeStale(_ path: String) throws(PageError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return }
        let isTaken = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) == 0 }
        if isTaken { throw PageError(IOError(errnoCode: EADDRINUSE, reason: "bind"), .unix(path: path)) }
        unlink(path)
    }

    /// Lets the socket's group connect: a reverse proxy runs as another user.
    static func letGroupIn(_ path: String) { chmod(path, 0o660) }

    /// The inode number of the file at a path; nil if there is none.
    static func node(_ path: String) -> UInt? {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt(status.st_ino) : nil
    }

    /// Removes the file of the server's socket, unless another server has replaced it by one with another inode number.
    static func remove(_ path: String, node: UInt?) { if let node, self.node(path) == node { unlink(path) } }
}

extension PageSettings.Address: CustomStringConvertible {
    package var description: String {
        switch self {
        case .loopback(let host, let port): host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

extension PageSettings {
    /// Returns the settings with the port at which the server listens, which the system chose if the settings say 0.
    /// The settings of a Unix socket, which has no port, stay the same.
    func listening(atPort port: Int?) -> PageSettings {
        guard let port, case .loopback(let host, _) = address else { return self }
        var settings = self
        settings.address = .loopback(host: host, port: port)
        return settings
    }
}
