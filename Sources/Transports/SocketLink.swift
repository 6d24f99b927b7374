internal import DescriptorIO
internal import Glibc
internal import LineProtocol

/// Opens links over stream sockets: raw serial servers, simulators, and QEMU's character devices.
enum SocketLink {
    /// How long a connection may take to come about.
    static let connectTimeout = Duration.seconds(10)

    /// `tcp:HOST:PORT`; an IPv6 address stands in brackets.
    static func openTCP(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try endpoint.allowOptions([])
        guard let colon = endpoint.address.lastIndex(of: ":"), colon != endpoint.address.startIndex,
            let port = UInt16(endpoint.address[endpoint.address.index(after: colon)...]), port > 0
        else {
            throw endpoint.invalid("written tcp:HOST:PORT, with a port from 1 to 65535")
        }
        let host = String(endpoint.address[..<colon])
        return try await open(.tcp(host: host, port: port), endpoint, on: loop)
    }

    /// `unix:PATH`.
    static func openUnix(_ endpoint: Endpoint, on loop: EventLoop) async throws(LinkError) -> any Link {
        try endpoint.allowOptions([])
        return try await open(.unix(path: endpoint.address), endpoint, on: loop)
    }

    private static func open(
        _ address: SocketAddress, _ endpoint: Endpoint, on loop: EventLoop
    ) async throws(LinkError) -> any Link {
        do {
            let channel = try await DescriptorChannel.connect(
                to: address, on: loop, deadline: .now.advanced(by: connectTimeout))
            return DescriptorLink(serverSocket: channel, name: endpoint.text)
        } catch {
            var linkError = LinkError(error, name: endpoint.text, activity: "connect")
            linkError.hint = hint(error.errno)
            throw linkError
        }
    }

    private static func hint(_ errno: CInt?) -> String? {
        switch errno {
        case ECONNREFUSED: "nothing listens there: start the server first"
        case ENOENT: "there is no such socket: start the server first"
        case EHOSTUNREACH: "no host of that name can be reached"
        case ENETUNREACH: "there is no route to that host: check the network"
        case ENAMETOOLONG: "a socket's path has at most 107 bytes"
        case ENOTSOCK, EPROTOTYPE: "that path is no stream socket"
        case EACCES: "you may not write to that socket: see its mode with ls -l"
        default: nil
        }
    }
}
