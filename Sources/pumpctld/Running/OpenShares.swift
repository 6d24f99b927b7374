import DescriptorIO
import Glibc
import SerialPort
import Sharing

/// The open shares of all devices.
actor OpenShares {
    let group: ShareGroup?
    private var sockets: [SocketShare] = []
    private var terminals: [TerminalShare] = []
    /// Reports when a client opens a pseudo-terminal.
    private let openings: OpeningWatch

    /// Creates an empty collection.
    ///
    /// - Parameters:
    ///   - group: The group whose users may open the shares; nil for this user only.
    ///   - loop: The event loop of the devices.
    init(for group: ShareGroup?, on loop: EventLoop) {
        self.group = group
        openings = OpeningWatch(on: loop)
    }

    /// Opens the shares of a device.
    ///
    /// - Throws: ``DaemonFailure`` if a share can't be opened. The shares before it stay open until ``close()``.
    func open(_ device: SharedDevice) async throws(DaemonFailure) {
        for share in device.settings.shares {
            switch share {
            case .terminal(let link): try await open(terminal: link, device)
            case .tcp(let host, let port): try await open(.tcp(host: host, port: port), share, device)
            case .unix(let path):
                try await open(.unix(path: path), share, device)
                try group?.admit(to: path)
            }
        }
    }

    private func open(terminal link: String, _ device: SharedDevice) async throws(DaemonFailure) {
        do throws(SerialError) {
            let share = try await TerminalShare.open(device, link: link, openings: openings)
            terminals.append(share)
        } catch {
            throw DaemonFailure(error, at: link)
        }
        try group?.admit(to: link)
    }

    private func open(
        _ address: SocketAddress, _ share: ShareAddress, _ device: SharedDevice
    ) async throws(DaemonFailure) {
        do throws(DescriptorError) {
            sockets.append(try await SocketShare.open(device, at: address))
        } catch {
            throw DaemonFailure(error, at: share)
        }
    }

    /// Closes all shares and disconnects every client.
    func close() async {
        for share in sockets { await share.close() }
        for share in terminals { await share.close() }
        (sockets, terminals) = ([], [])
    }
}

/// A group whose users may open sockets and pseudo-terminals.
struct ShareGroup: Sendable, Hashable {
    let name: String
    let id: gid_t

    /// Looks up a group by its name.
    init(named name: String) throws(DaemonFailure) {
        guard let entry = getgrnam(name) else {
            throw DaemonFailure(
                .usage, "group: unknown group '\(name)' on this machine",
                hint: "name another group, or create this one: sudo groupadd --system \(name)")
        }
        self.name = name
        id = entry.pointee.gr_gid
    }

    /// Returns whether the group's users may enter the folder of a socket, by the permissions of this folder alone and
    /// not of those above it; true if the permissions can't be read.
    func mayEnterFolder(of path: String) -> Bool {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        var status = stat()
        guard stat(String(folder), &status) == 0 else { return true }
        return status.st_mode & (status.st_gid == id ? S_IXGRP : S_IXOTH) != 0
    }

    /// Gives the group access to a socket or pseudo-terminal, which until then only this user can open.
    ///
    /// - Parameter path: The path; may be a symbolic link to the pseudo-terminal.
    func admit(to path: String) throws(DaemonFailure) {
        // The user ID `.max`, which is −1 in C, leaves the owner unchanged.
        guard chown(path, .max, id) == 0, chmod(path, 0o660) == 0 else {
            throw DaemonFailure(
                .noPermission, "\(path): can't give access to the group \(name): \(String(cString: strerror(errno)))",
                hint: "run pumpctld as root or as a member of the group \(name)")
        }
    }
}

extension DaemonFailure {
    /// Creates the failure for a socket that could not be opened.
    init(_ error: DescriptorError, at share: ShareAddress) {
        let reason = error.errno.map { String(cString: strerror($0)) } ?? "\(error)"
        switch (error.errno, share) {
        case (EADDRINUSE?, .unix(let path)):
            let isSocket = Self.isSocket(path)
            self.init(
                .unavailable, isSocket ? "\(path): already in use" : "\(path): not a socket",
                hint: isSocket
                    ? "end the program that listens there, or choose another path: sudo fuser -v \(path)"
                    : "remove it, or choose another path")
        case (EADDRINUSE?, .tcp(_, let port)):
            self.init(
                .unavailable, "\(share): already in use",
                hint: "end the program that has the port, or choose another port: ss -ltnp 'sport = :\(port)'")
        case (EADDRNOTAVAIL?, _):
            self.init(
                .noInput, "\(share): not an address of this machine", hint: "list this machine's addresses: ip address")
        case (ENOENT?, _), (ENOTDIR?, _):
            self.init(
                .noInput, "\(share): the folder does not exist", hint: "create the folder, or choose another path")
        case (EACCES?, .tcp), (EPERM?, .tcp):
            self.init(.noPermission, "\(share): \(reason)", hint: "choose a port of at least 1024")
        case (EACCES?, _), (EPERM?, _), (EROFS?, _):
            self.init(
                .noPermission, "\(share): \(reason)", hint: "choose a path in a folder that this user may write to")
        default:
            self.init(
                error.errno == nil ? .noInput : .ioError, "\(share): \(reason)", hint: "choose another address")
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Creates the failure for a pseudo-terminal that could not be created.
    fileprivate init(_ error: SerialError, at link: String) {
        let reason = error.errno.map { String(cString: strerror($0)) } ?? error.reason
        let (status, message): (Status, String) =
            switch (error.code, error.errno) {
            case (.pathTaken, _): (.unavailable, "\(link): already in use")
            case (_, ENOENT?), (_, ENOTDIR?): (.noInput, "\(link): the folder does not exist")
            case (_, EACCES?), (_, EPERM?), (_, EROFS?): (.noPermission, "\(link): \(reason)")
            default: (.ioError, "\(error.activity) \(error.path) for \(link): \(reason)")
            }
        let isFolder = [ENOENT, ENOTDIR].contains(error.errno)
        self.init(
            status, message,
            hint: isFolder ? "create the folder, or choose another path" : error.hint ?? "choose another path")
    }
}
